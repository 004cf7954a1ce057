import { PasswordForm } from './password-form.tsx'
import { useDashboard } from './dashboard-context.ts'
import { Gate } from './gate.tsx'
import { SignOutButton } from './sign-out-button.tsx'

/** The first thing for a person whose password somebody else knows. */
export function ForcedPassword() {
  const { user } = useDashboard()
  return (
    <Gate title="Choose a password of your own">
      <p>
        {user.name}, your password was handed to you by somebody who knows it. Change it, then the dashboard
        opens.
      </p>
      <PasswordForm />
      <SignOutButton />
    </Gate>
  )
}
