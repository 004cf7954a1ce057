import { requestLogSchema } from '@pitboss/contracts/objects/account'
import { pageOf } from '@pitboss/contracts/primitives'
import { useState } from 'react'
import { useRead } from '../hooks/use-read.ts'
import { DataTable } from '../parts/data-table.tsx'
import { Field } from '../parts/field.tsx'
import { Moment } from '../parts/moment.tsx'
import { Panel } from '../parts/panel.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { rulesFor } from './rules-for.ts'

const requestsPage = pageOf(requestLogSchema)
const lookedAt = '200'
const shownMax = 20

/** Would this address be let in? Answered here, by the rule that the service follows. */
export function AllowlistBench({ apiKey, allowlist }: { apiKey: string; allowlist: readonly string[] }) {
  const [typed, setTyped] = useState('')
  return (
    <section className="card" aria-label="Allowlist bench">
      <h2>Would this address be let in?</h2>
      <Field label="Address" hint="Nothing is sent; the list is tried here.">
        <input
          type="text"
          value={typed}
          onChange={(event) => setTyped(event.target.value.trim())}
          placeholder="203.0.113.7"
          maxLength={64}
          autoComplete="off"
          spellCheck={false}
        />
      </Field>
      {typed !== '' && <Verdict address={typed} allowlist={allowlist} />}
      <Origins apiKey={apiKey} allowlist={allowlist} />
    </section>
  )
}

function Verdict({ address, allowlist }: { address: string; allowlist: readonly string[] }) {
  const rules = rulesFor(address, allowlist)
  if (rules === null)
    return (
      <p role="status" className="notice" data-tone="waiting">
        {address} is no address. Write four numbers, such as 203.0.113.7, or an IPv6 address.
      </p>
    )
  if (allowlist.length === 0)
    return (
      <p role="status" className="notice" data-tone="good">
        Let in: the key has no list, so it works from everywhere.
      </p>
    )
  return (
    <p role="status" className="notice" data-tone={rules.length > 0 ? 'good' : 'problem'}>
      {rules.length > 0
        ? `Let in, by ${rules.join(' and ')}.`
        : `Refused with IP_NOT_ALLOWED: none of the ${allowlist.length} entries of the list holds it.`}
    </p>
  )
}

/** The addresses from which the key was used, each with what the list says to it now. */
function Origins({ apiKey, allowlist }: { apiKey: string; allowlist: readonly string[] }) {
  const { environment } = useDashboard()
  const query = { environment, api_key: apiKey, limit: lookedAt }
  const read = useRead(requestsPage, 'dashboard/request-logs', query)
  return (
    <Panel read={read}>
      {({ data }) => {
        const origins = [...Map.groupBy(data, ({ client_address }) => client_address)].slice(0, shownMax)
        if (origins.length === 0) return <p className="about">The key made no request in the last 30 days.</p>
        return (
          <DataTable
            label="Where the key was used"
            rows={origins}
            keyOf={([address]) => address}
            columns={[
              { title: 'Address', cell: ([address]) => address },
              { title: 'Requests', number: true, cell: ([, rows]) => rows.length },
              { title: 'Last', cell: ([, rows]) => <Moment at={rows[0]?.at ?? null} /> },
              {
                title: 'By the list',
                cell: ([address]) =>
                  allowlist.length === 0
                    ? 'no list'
                    : (rulesFor(address, allowlist) ?? []).join(', ') || 'refused',
              },
            ]}
          />
        )
      }}
    </Panel>
  )
}
