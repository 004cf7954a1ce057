import { acceptInvitationBody, acceptInvitationReply } from '@pitboss/contracts/objects/user'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { ApiError } from '../api/api-error.ts'
import { exchange } from '../api/exchange.ts'
import { useAct } from '../hooks/use-act.ts'
import { Form } from '../parts/form.tsx'
import { PasswordField } from '../parts/password-field.tsx'
import type { Session } from './create-session.ts'
import { Gate } from './gate.tsx'

/** Takes the token out of the address (`#token=…`) at once: neither history nor bookmark keeps it. */
function takeToken(): string | null {
  const { hash, pathname, search } = window.location
  if (hash === '') return null
  window.history.replaceState(null, '', pathname + search)
  return new URLSearchParams(hash.slice(1)).get('token')
}

/** An invited person chooses a password, and is signed in with it. */
export function Invitation({ session }: { session: Session }) {
  const [token] = useState(takeToken)
  const [, navigate] = useLocation()
  const act = useAct(async (body: { token: string; password: string }) => {
    const { user } = await exchange(acceptInvitationReply, 'POST', 'dashboard/invitations/accept', { body })
    try {
      await session.signIn({ email: user.email, password: body.password })
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      session.leave('Your password is set. Sign in with it.', user.email)
    }
    navigate('/')
  })
  if (token === null)
    return (
      <Gate title="Accept your invitation">
        <p>
          This address has no invitation in it. Open the link that you were sent once more, whole. If it does
          not open any more, ask who invited you for another one.
        </p>
        <a className="link" href="/dashboard">
          Go to the sign-in
        </a>
      </Gate>
    )
  return (
    <Gate title="Accept your invitation">
      <p>Choose a password. Nobody else knows it, not even who invited you.</p>
      <Form
        schema={acceptInvitationBody}
        read={(data) => ({ token, password: data.get('password') })}
        send={act.run}
        {...act}
        submit="Set password and sign in"
      >
        {(faults) => <PasswordField label="Password" name="password" isNew fault={faults.password} />}
      </Form>
      {act.error?.code === 'INVALID_CREDENTIALS' && (
        <p>The link works once and for 72 hours. Ask who invited you for another one.</p>
      )}
    </Gate>
  )
}
