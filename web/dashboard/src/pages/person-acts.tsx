import { roleSchema } from '@pitboss/contracts/caller'
import { type User, userSchema } from '@pitboss/contracts/objects/user'
import { useQueryClient } from '@tanstack/react-query'
import * as z from 'zod'
import { useAct } from '../hooks/use-act.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Form } from '../parts/form.tsx'
import { Modal } from '../parts/modal.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { RoleFields } from './role-fields.tsx'

type ActProps = { readonly of: User; readonly onClose: () => void }
const roleBody = z.strictObject({ role: roleSchema })
const pathOf = ({ user_id }: User) => `dashboard/users/${encodeURIComponent(user_id)}`

export function ChangeRole({ of: person, onClose }: ActProps) {
  const { api } = useDashboard()
  const queries = useQueryClient()
  const act = useAct(async (body: z.output<typeof roleBody>) => {
    await api.send(userSchema, 'PATCH', pathOf(person), { body })
    await queries.invalidateQueries()
    onClose()
  })
  return (
    <Modal title={`Role of ${person.name}`} onClose={onClose}>
      <Form
        schema={roleBody}
        read={(data) => ({ role: data.get('role') })}
        send={act.run}
        {...act}
        submit="Save"
        write={{ method: 'PATCH', path: pathOf(person) }}
      >
        {() => <RoleFields chosen={person.role} />}
      </Form>
    </Modal>
  )
}

export function RemovePerson({ of: person, onClose }: ActProps) {
  const { api } = useDashboard()
  const queries = useQueryClient()
  const act = useAct(async () => {
    await api.send(null, 'DELETE', pathOf(person))
    await queries.invalidateQueries()
    onClose()
  })
  return (
    <Confirm
      title={`Remove ${person.name}`}
      act="Remove"
      grave
      {...act}
      onConfirm={act.run}
      onClose={onClose}
    >
      <p>
        {person.email} is signed out everywhere within two seconds and can't sign in any more. Keys and
        endpoints that the person made stay.
      </p>
    </Confirm>
  )
}
