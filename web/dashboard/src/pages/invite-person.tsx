import { userSchema } from '@pitboss/contracts/objects/user'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type * as z from 'zod'
import { useAct } from '../hooks/use-act.ts'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Modal } from '../parts/modal.tsx'
import { SecretOnce } from '../parts/secret-once.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { inviteBody } from '../session/people-bodies.ts'
import { RoleFields } from './role-fields.tsx'

/** Invites a person; the link is shown once. */
export function InvitePerson({ onClose }: { onClose: () => void }) {
  const { api } = useDashboard()
  const queries = useQueryClient()
  const [idempotencyKey] = useState(() => crypto.randomUUID())
  const [link, setLink] = useState<string | null>(null)
  const act = useAct(async (body: z.output<typeof inviteBody>) => {
    const made = await api.send(userSchema, 'POST', 'dashboard/users', { body, idempotencyKey })
    setLink(made.invite_url ?? 'The first answer was lost. Remove the person and invite again.')
    await queries.invalidateQueries()
  })
  if (link !== null)
    return (
      <SecretOnce
        title="The invitation"
        secrets={[{ label: 'Invitation link', value: link }]}
        note="Send it to the person by a channel that you trust. It works once and for 72 hours."
        onStored={onClose}
      />
    )
  return (
    <Modal title="Invite a person" onClose={onClose}>
      <Form
        schema={inviteBody}
        read={(data) => Object.fromEntries(data)}
        send={act.run}
        {...act}
        submit="Create invitation"
        write={{ method: 'POST', path: 'dashboard/users' }}
      >
        {(faults) => (
          <>
            <Field label="Email" fault={faults.email}>
              <input type="email" name="email" autoComplete="off" maxLength={254} required />
            </Field>
            <Field label="Name" fault={faults.name}>
              <input type="text" name="name" autoComplete="off" maxLength={128} required />
            </Field>
            <RoleFields chosen="VIEWER" />
          </>
        )}
      </Form>
    </Modal>
  )
}
