import { useState } from 'react'
import { useAct } from '../hooks/use-act.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { PasswordField } from '../parts/password-field.tsx'
import { SecretOnce } from '../parts/secret-once.tsx'
import { useDashboard } from './dashboard-context.ts'
import { codeBody, passwordBody, recoveryReply, totpReply } from './people-bodies.ts'
import { textOf } from '../parts/text-of.ts'

/** Adds a second factor: password, authenticator, code, recovery codes. Then one signs in again. */
export function EnrolTotp() {
  const { api, session, user } = useDashboard()
  const [factor, setFactor] = useState<{ secret: string; otpauth_url: string } | null>(null)
  const [codes, setCodes] = useState<readonly string[]>([])
  const begin = useAct(async (body: { password: string }) =>
    setFactor(await api.send(totpReply, 'POST', 'dashboard/me/totp', { body })),
  )
  const confirm = useAct(async (body: { code: string }) => {
    const { recovery_codes } = await api.send(recoveryReply, 'POST', 'dashboard/me/totp/confirm', { body })
    setFactor(null)
    setCodes(recovery_codes)
  })
  if (codes.length > 0)
    return (
      <SecretOnce
        title="Your recovery codes"
        secrets={[{ label: 'Recovery codes', value: codes.join('\n') }]}
        note="Each one stands in for a code of the authenticator once. Then sign in again: the second factor has ended every session."
        onStored={() => session.leave('Your second factor is on. Sign in with it.', user.email)}
      />
    )
  if (factor === null)
    return (
      <Form
        schema={passwordBody}
        read={(data) => Object.fromEntries(data)}
        send={begin.run}
        {...begin}
        submit="Begin"
      >
        {(faults) => <PasswordField label="Password" name="password" fault={faults.password} />}
      </Form>
    )
  return (
    <>
      <p>
        Enter this secret in your authenticator, or{' '}
        <a className="link" href={factor.otpauth_url}>
          open the authenticator on this device
        </a>
        .
      </p>
      <p>
        <code>{factor.secret.replace(/.{4}(?=.)/g, '$& ')}</code>{' '}
        <CopyButton text={factor.secret} what="secret" />
      </p>
      <Form
        schema={codeBody}
        read={(data) => ({ code: textOf(data, 'code').replaceAll(' ', '') })}
        send={confirm.run}
        {...confirm}
        submit="Confirm"
      >
        {(faults) => (
          <Field label="Authenticator code" hint="Six digits." fault={faults.code}>
            <input type="text" name="code" inputMode="numeric" autoComplete="one-time-code" autoFocus />
          </Field>
        )}
      </Form>
    </>
  )
}
