import type { Dossier } from '@pitboss/contracts/objects/dossier'
import { Link } from 'wouter'
import { Badge } from '../parts/badge.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { Facts } from '../parts/facts.tsx'
import { ComputeRound } from './compute-round.tsx'

/** Bet, outcome and proof of a round. */
export function RoundProof({ of: { round, verification } }: { of: Dossier }) {
  const { fairness } = round
  return (
    <>
      <div className="split">
        <section className="card" aria-label="Bet and outcome">
          <h2>Bet and outcome</h2>
          <pre className="data" tabIndex={0} aria-label="Bet">
            {JSON.stringify(round.bet, null, 2)}
          </pre>
          {round.outcome === null ? (
            <p className="quiet">{round.completed_at === null ? 'No outcome yet.' : 'Nothing was drawn.'}</p>
          ) : (
            <pre className="data" tabIndex={0} aria-label="Outcome">
              {JSON.stringify(round.outcome, null, 2)}
            </pre>
          )}
        </section>
        <section className="card" aria-label="Fairness">
          <h2>Fairness</h2>
          <Facts
            facts={{
              Proof:
                verification === null ? (
                  'once the round is over'
                ) : (
                  <Badge status={verification.valid ? 'VERIFIED' : 'DOES NOT VERIFY'} />
                ),
              Nonce: (
                <>
                  {fairness.nonce} · <Link href={bookAt(round)}>Book of nonces</Link>
                </>
              ),
              Commitment: <code>{fairness.server_seed_hash}</code>,
              'Player seed': fairness.client_seed === null ? null : <code>{fairness.client_seed}</code>,
              'Server seed':
                fairness.server_seed === null ? (
                  'shown when the round is over'
                ) : (
                  <code>{fairness.server_seed}</code>
                ),
            }}
          />
          <ComputeRound of={round} />
          <p className="quiet">
            Anybody can check a finished round on the <a href="/v1/public/verify">verification page</a>.
          </p>
        </section>
      </div>
      {verification !== null && (
        <details>
          <summary>{verification.checks.length} checks of the proof</summary>
          <DataTable
            label="Checks of the proof"
            rows={verification.checks}
            keyOf={({ name }) => name}
            columns={[
              { title: 'Check', cell: ({ name }) => name },
              { title: 'Holds', cell: ({ ok }) => (ok ? 'yes' : 'NO') },
              { title: 'Computed', cell: ({ expected }) => <code>{expected}</code> },
              { title: 'In the record', cell: ({ actual }) => <code>{actual}</code> },
            ]}
          />
        </details>
      )}
    </>
  )
}

/** The place of a round in its player's book. */
function bookAt({ player_id, game, fairness }: Dossier['round']): string {
  const nonce = String(fairness.nonce)
  return `/fairness?${new URLSearchParams({ player_id, game, from_nonce: nonce, to_nonce: nonce })}`
}
