import { webhookCreateSchema, webhookEndpointSchema } from '@pitboss/contracts/objects/webhook'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import type * as z from 'zod'
import { useAct } from '../hooks/use-act.ts'
import { Form } from '../parts/form.tsx'
import { Modal } from '../parts/modal.tsx'
import { SecretOnce } from '../parts/secret-once.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { EndpointFields, readEndpoint } from './endpoint-fields.tsx'

type Endpoint = z.output<typeof webhookEndpointSchema>
const blank = { url: '', description: null, events: [], max_in_flight: 8 }

/** Creates an endpoint, shows its secret once and goes to its page. */
export function NewEndpoint({ onClose }: { onClose: () => void }) {
  const { api, environment } = useDashboard()
  const queries = useQueryClient()
  const [, navigate] = useLocation()
  const [idempotencyKey] = useState(() => crypto.randomUUID())
  const [made, setMade] = useState<Endpoint | null>(null)
  const act = useAct(async (body: z.output<typeof webhookCreateSchema>) => {
    setMade(await api.send(webhookEndpointSchema, 'POST', 'dashboard/webhooks', { body, idempotencyKey }))
    await queries.invalidateQueries()
  })
  if (made !== null)
    return (
      <SecretOnce
        title="The signing secret"
        secrets={[
          {
            label: 'Signing secret',
            value: made.secret ?? 'The first answer was lost. Rotate the secret for another one.',
          },
        ]}
        note="Your receiver checks the signature of each delivery with it, the whole text."
        onStored={() => {
          setMade(null)
          onClose()
          navigate(`/endpoints/${made.webhook_id}`)
        }}
      />
    )
  return (
    <Modal title={`Create a ${environment} endpoint`} onClose={onClose}>
      <Form
        schema={webhookCreateSchema}
        read={(data) => ({ environment, ...readEndpoint(data) })}
        send={act.run}
        {...act}
        submit="Create endpoint"
        write={{ method: 'POST', path: 'dashboard/webhooks' }}
      >
        {(faults) => <EndpointFields of={blank} faults={faults} />}
      </Form>
    </Modal>
  )
}
