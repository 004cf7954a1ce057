import { eventType } from '@pitboss/contracts/objects/event'
import { replayJobSchema, replayOnly, type WebhookEndpoint } from '@pitboss/contracts/objects/webhook'
import { instant } from '@pitboss/contracts/primitives'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import * as z from 'zod'
import { useAct } from '../hooks/use-act.ts'
import { ErrorNotice } from '../parts/error-notice.tsx'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Modal } from '../parts/modal.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { DrainEstimate } from './drain-estimate.tsx'
import { textOf } from '../parts/text-of.ts'
import { useZone } from '../time/zone.tsx'
import { exactText, instantOf, localText } from '../time/zone-time.ts'

const replayBody = z.strictObject({
  from: instant,
  to: instant,
  types: z.array(eventType).optional(),
  only: replayOnly,
})
type ReplayBody = z.output<typeof replayBody>

const onlyTexts = {
  missing: { text: 'What was never sent', hint: 'New deliveries for events that have none.' },
  failed: { text: 'What failed', hint: 'The same deliveries once more, under the next attempt numbers.' },
  all: {
    text: 'Everything',
    hint: 'Delivered events, too: the receiver has to drop what it knows by its id.',
  },
} as const

const dayMs = 24 * 3600 * 1000

type NewReplayProps = {
  readonly of: Pick<WebhookEndpoint, 'webhook_id' | 'max_in_flight'>
  readonly onClose: () => void
}

/** Asks what to send again, previews it, then starts the job and goes to its page. */
export function NewReplay({ of: endpoint, onClose }: NewReplayProps) {
  const { webhook_id: webhookId, max_in_flight } = endpoint
  const { api } = useDashboard()
  const queries = useQueryClient()
  const [, navigate] = useLocation()
  const { zone } = useZone()
  const [openedMs] = useState(Date.now)
  const localOf = (ms: number) => localText(new Date(ms).toISOString(), zone)
  const [idempotencyKey] = useState(() => crypto.randomUUID())
  const [preview, setPreview] = useState<{ body: ReplayBody; matched: number; created: number } | null>(null)
  const path = `dashboard/webhooks/${encodeURIComponent(webhookId)}/replay`
  const look = useAct(async (body: ReplayBody) => {
    const job = await api.send(replayJobSchema, 'POST', path, { body: { ...body, dry_run: true } })
    setPreview({ body, matched: job.matched, created: job.created })
  })
  const start = useAct(async (body: ReplayBody) => {
    const job = await api.send(replayJobSchema, 'POST', path, { body, idempotencyKey })
    await queries.invalidateQueries()
    onClose()
    navigate(`/endpoints/${webhookId}/replays/${job.replay_id}`)
  })
  if (preview !== null)
    return (
      <Modal title="Start this replay?" onClose={onClose}>
        <p data-testid="preview">
          <strong>{preview.matched}</strong> {preview.matched === 1 ? 'event matches' : 'events match'}:{' '}
          {onlyTexts[preview.body.only].text.toLowerCase()}, from {exactText(preview.body.from, zone)} to{' '}
          {exactText(preview.body.to, zone)}.
        </p>
        {preview.created > 0 && (
          <DrainEstimate webhookId={webhookId} count={preview.created} inFlightMax={max_in_flight} isReplay />
        )}
        <p className="quiet">
          {preview.matched === 0
            ? 'There is nothing to send. Change the time, or what is sent.'
            : 'They go out on the usual schedule. A replay that runs can be cancelled.'}
        </p>
        <ErrorNotice error={start.error} />
        <div className="buttons">
          <button type="button" className="button quiet-button" onClick={() => setPreview(null)}>
            Change it
          </button>
          <button
            type="button"
            className="button main-button"
            disabled={start.busy || preview.matched === 0}
            onClick={() => void start.run(preview.body)}
          >
            Start replay
          </button>
        </div>
      </Modal>
    )
  return (
    <Modal title="Replay events" onClose={onClose}>
      <Form
        schema={replayBody}
        read={(data) => {
          const types = data.getAll('types')
          return {
            from: instantOf(textOf(data, 'from'), zone) ?? '',
            to: instantOf(textOf(data, 'to'), zone) ?? '',
            only: data.get('only'),
            ...(types.length === 0 ? {} : { types }),
          }
        }}
        send={look.run}
        {...look}
        submit="Preview"
        write={{ method: 'POST', path }}
      >
        {(faults) => (
          <>
            <div className="split">
              <Field label={`From (${zone})`} fault={faults.from}>
                <input type="datetime-local" step="1" name="from" defaultValue={localOf(openedMs - dayMs)} />
              </Field>
              <Field label={`To (${zone})`} fault={faults.to}>
                <input type="datetime-local" step="1" name="to" defaultValue={localOf(openedMs)} />
              </Field>
            </div>
            <fieldset className="choices">
              <legend>Send</legend>
              {replayOnly.options.map((only) => (
                <label className="choice" key={only}>
                  <input type="radio" name="only" value={only} defaultChecked={only === 'missing'} />
                  <span>
                    {onlyTexts[only].text}
                    <small>{onlyTexts[only].hint}</small>
                  </span>
                </label>
              ))}
            </fieldset>
            <fieldset className="choices">
              <legend>Events (none ticked: all of them)</legend>
              {eventType.options.map((type) => (
                <label className="choice" key={type}>
                  <input type="checkbox" name="types" value={type} />
                  <code>{type}</code>
                </label>
              ))}
            </fieldset>
          </>
        )}
      </Form>
    </Modal>
  )
}
