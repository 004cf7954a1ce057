import { webhookEndpointSchema, webhookPatchSchema } from '@pitboss/contracts/objects/webhook'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import * as z from 'zod'
import { useAct } from '../hooks/use-act.ts'
import { Confirm } from '../parts/confirm.tsx'
import { Form } from '../parts/form.tsx'
import { Modal } from '../parts/modal.tsx'
import { RotateSecret } from '../parts/rotate-secret.tsx'
import { SecretOnce } from '../parts/secret-once.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { DrainEstimate } from './drain-estimate.tsx'
import { EndpointFields, readEndpoint } from './endpoint-fields.tsx'
import { NewReplay } from './new-replay.tsx'
import { textOf } from '../parts/text-of.ts'
import { useZone } from '../time/zone.tsx'
import { exactText } from '../time/zone-time.ts'

export type EndpointActName = 'change' | 'rotate' | 'pause' | 'resume' | 'replay' | 'delete'

type ActProps = { readonly of: z.output<typeof webhookEndpointSchema>; readonly onClose: () => void }

/** The dialog of one act on an endpoint. */
export function EndpointAct({ name, ...props }: ActProps & { readonly name: EndpointActName }) {
  switch (name) {
    case 'change':
      return <Change {...props} />
    case 'rotate':
      return <Rotate {...props} />
    case 'pause':
      return <Pause {...props} />
    case 'resume':
      return <Resume {...props} />
    case 'replay':
      return <NewReplay of={props.of} onClose={props.onClose} />
    case 'delete':
      return <Delete {...props} />
  }
}

const pathOf = ({ of: { webhook_id } }: ActProps) => `dashboard/webhooks/${encodeURIComponent(webhook_id)}`

function Change(props: ActProps) {
  const { api } = useDashboard()
  const queries = useQueryClient()
  const act = useAct(async (body: z.output<typeof webhookPatchSchema>) => {
    await api.send(webhookEndpointSchema, 'PATCH', pathOf(props), { body })
    await queries.invalidateQueries()
    props.onClose()
  })
  return (
    <Modal title="Edit the endpoint" onClose={props.onClose}>
      <Form
        schema={webhookPatchSchema}
        read={(data) => ({
          ...readEndpoint(data),
          description: textOf(data, 'description') || null,
        })}
        send={act.run}
        {...act}
        submit="Save"
        write={{ method: 'PATCH', path: pathOf(props) }}
      >
        {(faults) => <EndpointFields of={props.of} faults={faults} />}
      </Form>
    </Modal>
  )
}

const rotateReply = z.object({ secret: z.string(), previous_valid_until: z.string().nullable() })

function Rotate(props: ActProps) {
  const { zone } = useZone()
  const { api } = useDashboard()
  const queries = useQueryClient()
  const path = `${pathOf(props)}/rotate-secret`
  const [made, setMade] = useState<z.output<typeof rotateReply> | null>(null)
  if (made !== null)
    return (
      <SecretOnce
        title="The new signing secret"
        secrets={[{ label: 'Signing secret', value: made.secret }]}
        note={
          made.previous_valid_until === null
            ? 'The old one has ended.'
            : `Deliveries are signed with the old one, too, until ${exactText(made.previous_valid_until, zone)}.`
        }
        onStored={props.onClose}
      />
    )
  return (
    <RotateSecret
      title="Rotate the signing secret"
      hint="So long each delivery carries a signature by the old secret and one by the new."
      path={path}
      daysMax={7}
      usualS={24 * 3600}
      send={async (body) => {
        setMade(await api.send(rotateReply, 'POST', path, { body }))
        await queries.invalidateQueries()
      }}
      onClose={props.onClose}
    />
  )
}

function Pause(props: ActProps) {
  const { api } = useDashboard()
  const queries = useQueryClient()
  const act = useAct(async () => {
    await api.send(webhookEndpointSchema, 'POST', `${pathOf(props)}/pause`)
    await queries.invalidateQueries()
    props.onClose()
  })
  return (
    <Confirm title="Pause the endpoint" act="Pause" {...act} onConfirm={act.run} onClose={props.onClose}>
      <p>New deliveries are held and wait. Nothing is lost, and players notice nothing.</p>
    </Confirm>
  )
}

/** What a pause has held, and how long it takes when it is let go. */
function Held({ of: { webhook_id, held = 0, max_in_flight } }: Pick<ActProps, 'of'>) {
  if (held === 0) return <p>Nothing was held.</p>
  return <DrainEstimate webhookId={webhook_id} count={held} inFlightMax={max_in_flight} isReplay={false} />
}

const resumeBody = z.strictObject({ held: z.enum(['deliver', 'skip']) })

function Resume(props: ActProps) {
  const { api } = useDashboard()
  const queries = useQueryClient()
  const act = useAct(async (body: z.output<typeof resumeBody>) => {
    await api.send(webhookEndpointSchema, 'POST', `${pathOf(props)}/resume`, { body })
    await queries.invalidateQueries()
    props.onClose()
  })
  return (
    <Modal title="Resume the endpoint" onClose={props.onClose}>
      <Held of={props.of} />
      <Form
        schema={resumeBody}
        read={(data) => ({ held: data.get('held') })}
        send={act.run}
        {...act}
        submit="Resume"
        write={{ method: 'POST', path: `${pathOf(props)}/resume` }}
      >
        {() => (
          <fieldset className="choices">
            <legend>What was held meanwhile</legend>
            <label className="choice">
              <input type="radio" name="held" value="deliver" defaultChecked />
              <span>
                Deliver it<small>At a growing pace, oldest first.</small>
              </span>
            </label>
            <label className="choice">
              <input type="radio" name="held" value="skip" />
              <span>
                Skip it<small>Those deliveries are cancelled. A replay of all can send them later.</small>
              </span>
            </label>
          </fieldset>
        )}
      </Form>
    </Modal>
  )
}

function Delete(props: ActProps) {
  const { api } = useDashboard()
  const queries = useQueryClient()
  const [, navigate] = useLocation()
  const act = useAct(async () => {
    await api.send(null, 'DELETE', pathOf(props))
    navigate('/endpoints')
    await queries.invalidateQueries()
  })
  return (
    <Confirm
      title="Delete the endpoint"
      act="Delete"
      grave
      {...act}
      onConfirm={act.run}
      onClose={props.onClose}
    >
      <p>
        Nothing is sent to <code>{props.of.url}</code> any more. Events stay and can be read. This can't be
        undone.
      </p>
    </Confirm>
  )
}
