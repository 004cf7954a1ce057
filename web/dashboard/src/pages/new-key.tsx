import { credentialCreateSchema, credentialSchema } from '@pitboss/contracts/objects/account'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type * as z from 'zod'
import { useAct } from '../hooks/use-act.ts'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Modal } from '../parts/modal.tsx'
import { type Secret, SecretOnce } from '../parts/secret-once.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { whyNoKeyLike } from '../session/may.ts'
import { AllowlistField, readAllowlist } from './allowlist-field.tsx'
import { readScopes, ScopeFields } from './scope-fields.tsx'
import { textOf } from '../parts/text-of.ts'

/** Creates a key and shows its secret once. */
export function NewKey({ onClose }: { onClose: () => void }) {
  const { api, environment, user } = useDashboard()
  const queries = useQueryClient()
  const [idempotencyKey] = useState(() => crypto.randomUUID())
  const [secrets, setSecrets] = useState<readonly Secret[] | null>(null)
  const act = useAct(async (body: z.output<typeof credentialCreateSchema>) => {
    const made = await api.send(credentialSchema, 'POST', 'dashboard/credentials', { body, idempotencyKey })
    setSecrets([
      { label: 'Key', value: made.api_key },
      {
        label: 'Secret',
        value: made.api_secret ?? 'The first answer was lost. Rotate the key for another secret.',
      },
    ])
    await queries.invalidateQueries()
  })
  if (secrets !== null)
    return (
      <SecretOnce
        title="Your new key"
        secrets={secrets}
        note="We keep no copy that could be shown again. Store the secret where your server reads it."
        onStored={onClose}
      />
    )
  return (
    <Modal title={`Create a ${environment} key`} onClose={onClose}>
      <Form
        schema={credentialCreateSchema}
        read={(data) => ({
          name: textOf(data, 'name'),
          environment,
          scopes: readScopes(data),
          ip_allowlist: readAllowlist(data),
        })}
        send={act.run}
        {...act}
        submit="Create key"
        write={{ method: 'POST', path: 'dashboard/credentials' }}
      >
        {(faults) => (
          <>
            <Field label="Name" hint="Whose key it is, such as the server that uses it." fault={faults.name}>
              <input type="text" name="name" maxLength={128} autoComplete="off" required />
            </Field>
            <ScopeFields
              chosen={user.role === 'DEVELOPER' ? ['sessions:write'] : []}
              refused={whyNoKeyLike(user.role, { environment, scopes: [] })}
              fault={faults.scopes === undefined ? undefined : 'Tick what the key may do.'}
            />
            <AllowlistField addresses={[]} fault={faults.ip_allowlist} />
          </>
        )}
      </Form>
    </Modal>
  )
}
