import { EnrolTotp } from './enrol-totp.tsx'
import { Gate } from './gate.tsx'
import { SignOutButton } from './sign-out-button.tsx'

/** The account demands a second factor of everybody, and this person has none yet. */
export function ForcedTotp() {
  return (
    <Gate title="Add a second factor">
      <p>Your account demands a second factor of everybody. Add one, then the dashboard opens.</p>
      <EnrolTotp />
      <SignOutButton />
    </Gate>
  )
}
