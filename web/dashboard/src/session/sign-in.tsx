import { loginBody } from '@pitboss/contracts/objects/user'
import { useState } from 'react'
import { useAct } from '../hooks/use-act.ts'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import type { Session } from './create-session.ts'
import { textOf } from '../parts/text-of.ts'

type Credentials = Parameters<Session['signIn']>[0]

/**
 * Signs a person in. The code of the second factor and the choice of an account are asked for when the
 * service asks for them.
 */
export function SignIn({ session, email, onDone }: { session: Session; email: string; onDone?: () => void }) {
  const [asksCode, setAsksCode] = useState(false)
  const [accounts, setAccounts] = useState<readonly string[]>([])
  const act = useAct(async (credentials: Credentials) => {
    await session.signIn(credentials)
    onDone?.()
  })
  const { error } = act
  if (error?.code === 'INVALID_CREDENTIALS' && error.names('totp') && !asksCode) setAsksCode(true)
  const named =
    error?.code === 'VALIDATION_ERROR' && error.names('operator_id') ? handlesOf(error.details) : []
  if (named.length > 0 && accounts.length === 0) setAccounts(named)
  const onlyAsks = (asksCode && act.error?.names('totp') === true) || named.length > 0
  const [triedCode, setTriedCode] = useState(false)
  return (
    <Form
      schema={loginBody}
      read={(data) => ({
        email: textOf(data, 'email'),
        password: data.get('password'),
        ...(asksCode ? { totp: textOf(data, 'totp').replaceAll(' ', '') } : {}),
        ...(accounts.length > 0 ? { operator_id: data.get('operator_id') ?? undefined } : {}),
      })}
      send={({ email, password, totp, operator_id }) => {
        setTriedCode(asksCode)
        return act.run({
          email,
          password,
          ...(totp ? { totp } : {}),
          ...(operator_id === undefined ? {} : { operator_id }),
        })
      }}
      busy={act.busy}
      error={onlyAsks && !triedCode ? null : error}
      submit="Sign in"
    >
      {(faults) => (
        <>
          <Field label="Email" fault={faults.email}>
            <input type="email" name="email" autoComplete="username" defaultValue={email} required />
          </Field>
          <Field label="Password" fault={faults.password}>
            <input type="password" name="password" autoComplete="current-password" required />
          </Field>
          {accounts.length > 0 && (
            <Field
              label="Account"
              hint="This e-mail address and password stand in several accounts."
              fault={undefined}
            >
              <select name="operator_id">
                {accounts.map((handle) => (
                  <option key={handle}>{handle}</option>
                ))}
              </select>
            </Field>
          )}
          {asksCode && (
            <Field
              label="Authenticator code"
              hint="Six digits from your authenticator, or a recovery code."
              fault={triedCode ? faults.totp : undefined}
            >
              <input type="text" name="totp" autoComplete="one-time-code" autoFocus required />
            </Field>
          )}
        </>
      )}
    </Form>
  )
}

/** The accounts that the details of the refusal name. */
function handlesOf(details: readonly { path: string; message: string }[]): readonly string[] {
  return details.flatMap(({ message }) => /op_[0-9a-f]{32}/.exec(message)?.[0] ?? [])
}
