import { eventType } from '@pitboss/contracts/objects/event'
import type { webhookEndpointSchema } from '@pitboss/contracts/objects/webhook'
import type * as z from 'zod'
import { Field } from '../parts/field.tsx'
import type { Faults } from '../parts/judge-body.ts'
import { textOf } from '../parts/text-of.ts'

type EndpointFieldsProps = {
  readonly of: Pick<
    z.output<typeof webhookEndpointSchema>,
    'url' | 'description' | 'events' | 'max_in_flight'
  >
  readonly faults: Faults
}

/** What can be said of an endpoint at its creation and later; read it with `readEndpoint`. */
export function EndpointFields({
  of: { url, description, events, max_in_flight },
  faults,
}: EndpointFieldsProps) {
  return (
    <>
      <Field
        label="URL"
        hint="LIVE takes https alone; addresses inside of networks are refused."
        fault={faults.url}
      >
        <input
          type="url"
          name="url"
          defaultValue={url}
          placeholder="https://casino.example.com/hooks/pitboss"
          maxLength={2048}
          autoComplete="off"
          required
        />
      </Field>
      <Field label="Description" fault={faults.description}>
        <input
          type="text"
          name="description"
          defaultValue={description ?? ''}
          maxLength={512}
          autoComplete="off"
        />
      </Field>
      <fieldset className="choices">
        <legend>Events (none ticked: all of them)</legend>
        {eventType.options.map((type) => (
          <label className="choice" key={type}>
            <input type="checkbox" name="events" value={type} defaultChecked={events.includes(type)} />
            <code>{type}</code>
          </label>
        ))}
      </fieldset>
      <Field
        label="Attempts at the same time"
        hint="1 to 64. How many your receiver takes at once."
        fault={faults.max_in_flight}
      >
        <input type="number" name="max_in_flight" min={1} max={64} defaultValue={max_in_flight} />
      </Field>
    </>
  )
}

export function readEndpoint(data: FormData) {
  return {
    url: textOf(data, 'url'),
    events: data.getAll('events'),
    description: textOf(data, 'description'),
    max_in_flight: Number(data.get('max_in_flight')),
  }
}
