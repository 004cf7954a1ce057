import { countedMax } from '@pitboss/contracts/objects/overview'
import { DataTable } from '../parts/data-table.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import type { Overview } from './home.tsx'

/** Rounds and money of the last 24 hours by currency, and how wallet and deliveries stand. */
export function LastDay({ of: { play, wallet, deliveries } }: { of: Overview }) {
  const { environment } = useDashboard()
  return (
    <section aria-label="Last 24 hours">
      <h2>Last 24 hours</h2>
      {play !== null && play.length === 0 && (
        <p className="about">No round was played in {environment} in the last 24 hours.</p>
      )}
      {play !== null && play.length > 0 && (
        <DataTable
          label="Last 24 hours"
          rows={play}
          keyOf={({ currency }) => currency}
          columns={[
            { title: 'Currency', cell: ({ currency }) => currency },
            { title: 'Rounds', number: true, cell: ({ rounds }) => rounds },
            { title: 'Players', number: true, cell: ({ players }) => players },
            { title: 'Stakes', number: true, cell: ({ stakes }) => stakes },
            { title: 'Payouts', number: true, cell: ({ payouts }) => payouts },
            { title: 'Refunds', number: true, cell: ({ refunds }) => refunds },
            { title: 'GGR', number: true, cell: ({ ggr }) => ggr },
          ]}
        />
      )}
      <div className="tiles">
        {wallet !== null && (
          <>
            <Tile
              title="Wallet"
              figure={!wallet.configured ? 'not set up' : wallet.breaker_open ? 'not answering' : 'answers'}
            />
            <Tile title="Movements without a clear answer" figure={upTo(wallet.unresolved)} />
          </>
        )}
        {deliveries !== null && (
          <>
            <Tile title="Deliveries on their way" figure={upTo(deliveries.pending)} />
            <Tile title="Deliveries held" figure={upTo(deliveries.held)} />
          </>
        )}
      </div>
    </section>
  )
}

function Tile({ title, figure }: { title: string; figure: string }) {
  return (
    <div className="card">
      <span className="quiet">{title}</span>
      <span className="figure">{figure}</span>
    </div>
  )
}

const upTo = (count: number) => (count >= countedMax ? `${countedMax}+` : String(count))
