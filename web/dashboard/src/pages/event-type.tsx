import * as z from 'zod'
import { useRead } from '../hooks/use-read.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Panel } from '../parts/panel.tsx'

/** Answer of `GET /v1/public/event-types`. Source: docs/contract.md, section 7. */
const eventTypes = z.object({
  data: z.array(
    z.object({
      type: z.string(),
      description: z.string(),
      schema: z.record(z.string(), z.unknown()),
      example: z.record(z.string(), z.unknown()),
    }),
  ),
})

/** What an event of this type is, with its schema and an example. */
export function EventType({ type }: { type: string }) {
  const read = useRead(eventTypes, 'public/event-types')
  return (
    <section className="card" aria-label="Type of the event">
      <h2>{type}</h2>
      <Panel read={read}>
        {({ data }) => {
          const known = data.find((one) => one.type === type)
          if (known === undefined) return <p className="about">This type has no description.</p>
          const schema = JSON.stringify(known.schema, null, 2)
          return (
            <>
              <p>{known.description}</p>
              <details>
                <summary>JSON Schema</summary>
                <pre className="data" tabIndex={0} aria-label="JSON Schema">
                  {schema}
                </pre>
                <CopyButton text={schema} what="schema" />
              </details>
              <details>
                <summary>Example</summary>
                <pre className="data" tabIndex={0} aria-label="Example">
                  {JSON.stringify(known.example, null, 2)}
                </pre>
              </details>
            </>
          )
        }}
      </Panel>
    </section>
  )
}
