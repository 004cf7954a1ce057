import { roundSchema } from '@pitboss/contracts/objects/round'
import { Link, useParams } from 'wouter'
import type * as z from 'zod'
import { useRead } from '../hooks/use-read.ts'
import { Badge } from '../parts/badge.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Facts } from '../parts/facts.tsx'
import { Moment } from '../parts/moment.tsx'
import { Page } from '../parts/page.tsx'
import { Panel } from '../parts/panel.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { TransactionList } from './transaction-list.tsx'

/** One round: bet, draw, proof and movements. */
export default function Round() {
  const { round_id: id = '' } = useParams()
  const { environment } = useDashboard()
  const read = useRead(roundSchema, `dashboard/rounds/${encodeURIComponent(id)}`, { environment })
  return (
    <Page title="Round">
      <Panel read={read}>{(round) => <OneRound of={round} />}</Panel>
      <h2>Movements</h2>
      <TransactionList roundId={id} />
    </Page>
  )
}

function OneRound({ of: round }: { of: z.output<typeof roundSchema> }) {
  const { fairness } = round
  return (
    <>
      <section className="card" aria-label="Round">
        <Facts
          facts={{
            Status: <Badge status={round.status} />,
            Game: round.game,
            Player: (
              <Link href={`/rounds?player_id=${encodeURIComponent(round.player_id)}`}>{round.player_id}</Link>
            ),
            Stake: `${round.stake} ${round.currency}${round.free_bet ? ' (free bet)' : ''}`,
            Payout: round.payout === null ? null : `${round.payout} ${round.currency}`,
            Multiplier: round.multiplier,
            Began: <Moment at={round.created_at} />,
            Ended: <Moment at={round.completed_at} />,
            'Ended by': round.end_reason,
            'Driven by': round.driver === 'game' ? 'the game' : 'your server',
            Session: <Link href={`/sessions/${round.session_id}`}>{round.session_id}</Link>,
            Id: (
              <>
                <code>{round.round_id}</code> <CopyButton text={round.round_id} what="id" />
              </>
            ),
            'Round id at the wallet': <code>{round.wallet_round_id}</code>,
          }}
        />
      </section>
      <div className="split">
        <section className="card" aria-label="Bet and outcome">
          <h2>Bet and outcome</h2>
          <pre className="data" tabIndex={0} aria-label="Bet">
            {JSON.stringify(round.bet, null, 2)}
          </pre>
          <pre className="data" tabIndex={0} aria-label="Outcome">
            {JSON.stringify(round.outcome, null, 2)}
          </pre>
        </section>
        <section className="card" aria-label="Fairness">
          <h2>Fairness</h2>
          <Facts
            facts={{
              Nonce: fairness.nonce,
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
          <p className="quiet">
            Anybody can check a finished round on the <a href="/v1/public/verify">verification page</a>.
          </p>
        </section>
      </div>
    </>
  )
}
