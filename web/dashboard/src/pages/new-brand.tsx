import { brandSchema } from '@pitboss/contracts/objects/account'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import * as z from 'zod'
import { useAct } from '../hooks/use-act.ts'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Modal } from '../parts/modal.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { textOf } from '../parts/text-of.ts'

const brandBody = z.strictObject({ name: z.string().min(1, 'is needed').max(128) })

export function NewBrand({ onClose }: { onClose: () => void }) {
  const { api } = useDashboard()
  const queries = useQueryClient()
  const [idempotencyKey] = useState(() => crypto.randomUUID())
  const act = useAct(async (body: z.output<typeof brandBody>) => {
    await api.send(brandSchema, 'POST', 'dashboard/brands', { body, idempotencyKey })
    await queries.invalidateQueries()
    onClose()
  })
  return (
    <Modal title="Create a brand" onClose={onClose}>
      <Form
        schema={brandBody}
        read={(data) => ({ name: textOf(data, 'name') })}
        send={act.run}
        {...act}
        submit="Create brand"
        write={{ method: 'POST', path: 'dashboard/brands' }}
      >
        {(faults) => (
          <Field label="Name" fault={faults.name}>
            <input type="text" name="name" maxLength={128} autoComplete="off" required />
          </Field>
        )}
      </Form>
    </Modal>
  )
}
