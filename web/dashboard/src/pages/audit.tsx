import { auditPageSchema } from '@pitboss/contracts/audit'
import { Empty } from '../parts/empty.tsx'
import { ListPage } from '../parts/list-page.tsx'
import type { Filter } from '../parts/list-view.tsx'
import { Moment } from '../parts/moment.tsx'

const filters: readonly Filter[] = [
  { name: 'actor', label: 'Who' },
  { name: 'act', label: 'Act' },
  { name: 'object', label: 'Object' },
]

type Fields = Readonly<Record<string, unknown>> | null

/** The fields that differ, each with its value before and after. */
function changesOf(before: Fields, after: Fields): readonly string[] {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  const text = (value: unknown) => (value === undefined ? 'none' : JSON.stringify(value))
  return [...names].flatMap((name) => {
    const [was, is] = [text(before?.[name]), text(after?.[name])]
    return was === is ? [] : [`${name}: ${was} → ${is}`]
  })
}

function Changes({ of: changes }: { of: readonly string[] }) {
  if (changes.length === 0) return <span className="quiet">nothing that is shown</span>
  return (
    <ul>
      {changes.map((change) => (
        <li key={change}>{change}</li>
      ))}
    </ul>
  )
}

/** Who changed what in the account. */
export default function Audit() {
  return (
    <ListPage
      title="Audit"
      about="Who changed what, in both environments. No secret is in here."
      needs="GET /v1/dashboard/audit"
      path="dashboard/audit"
      schema={auditPageSchema}
      filters={filters}
      anyTime="Any time"
      byEnvironment={false}
      keyOf={({ audit_id }) => audit_id}
      columns={[
        { title: 'When', cell: ({ at }) => <Moment at={at} /> },
        {
          title: 'Who',
          cell: ({ actor, approval, proof, source }) => (
            <>
              {approval === undefined ? actor.name : `${actor.name}, approved by ${approval.email}`}
              {proof === 'none' && source !== 'auth' && actor.kind !== 'operations' && (
                <span className="quiet"> (by the word of {source} alone)</span>
              )}
            </>
          ),
        },
        { title: 'Act', cell: ({ act }) => <code className="nowrap">{act}</code> },
        {
          title: 'Object',
          cell: ({ object }) => (
            <div>
              {object.type} <code>{object.id}</code>
            </div>
          ),
        },
        {
          title: 'Change',
          cell: ({ before, after }) =>
            before !== null && after !== null ? (
              <Changes of={changesOf(before, after)} />
            ) : (
              <details>
                <summary>{before === null ? 'All that was made' : 'All that has ended'}</summary>
                <Changes of={changesOf(before, after)} />
              </details>
            ),
        },
        {
          title: 'From',
          cell: ({ client_address }) => <span className="nowrap">{client_address ?? '–'}</span>,
        },
      ]}
      empty={
        <Empty title="Nothing was changed yet">
          <p>Each change of a key, an endpoint, a wallet, a person or a setting leaves a record here.</p>
        </Empty>
      }
    />
  )
}
