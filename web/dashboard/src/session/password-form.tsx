import { changePassword } from './people-bodies.ts'
import { userSchema } from '@pitboss/contracts/objects/user'
import { ApiError } from '../api/api-error.ts'
import { useAct } from '../hooks/use-act.ts'
import { Form } from '../parts/form.tsx'
import { PasswordField } from '../parts/password-field.tsx'
import { useDashboard } from './dashboard-context.ts'

/** Changes the own password, which ends every session of the person, and begins a new one here. */
export function PasswordForm() {
  const { api, session, user } = useDashboard()
  const act = useAct(async (body: { current_password: string; new_password: string }) => {
    await api.send(userSchema, 'POST', 'dashboard/me/password', { body })
    const notice = 'Your password is changed. Sign in with the new one.'
    if (user.totp_enabled) return session.leave(notice, user.email)
    try {
      await session.signIn({ email: user.email, password: body.new_password })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      session.leave(notice, user.email)
    }
  })
  return (
    <Form
      schema={changePassword}
      read={(data) => Object.fromEntries(data)}
      send={act.run}
      {...act}
      submit="Change password"
    >
      {(faults) => (
        <>
          <input
            className="unseen"
            type="email"
            autoComplete="username"
            value={user.email}
            readOnly
            tabIndex={-1}
            aria-hidden
          />
          <PasswordField label="Current password" name="current_password" fault={faults.current_password} />
          <PasswordField label="New password" name="new_password" isNew fault={faults.new_password} />
        </>
      )}
    </Form>
  )
}
