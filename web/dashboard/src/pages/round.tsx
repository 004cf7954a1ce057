import { type Dossier, dossierSchema } from '@pitboss/contracts/objects/dossier'
import { Link, useParams } from 'wouter'
import { useRead } from '../hooks/use-read.ts'
import { Badge } from '../parts/badge.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Facts } from '../parts/facts.tsx'
import { Moment } from '../parts/moment.tsx'
import { Page } from '../parts/page.tsx'
import { Panel } from '../parts/panel.tsx'
import { Sentences } from '../parts/sentences.tsx'
import { RoundPicture } from '../picture/round-picture.tsx'
import { useDashboard } from '../session/dashboard-context.ts'
import { ReplayCard } from './replay-card.tsx'
import { RoundDeliveries, RoundMovements } from './round-parts.tsx'
import { RoundProof } from './round-proof.tsx'
import { RoundReceipt } from './round-receipt.tsx'

/** One round with all that belongs to it, from its dossier. */
export default function Round() {
  const { round_id: id = '' } = useParams()
  const { environment } = useDashboard()
  const read = useRead(
    dossierSchema,
    `dashboard/rounds/${encodeURIComponent(id)}/dossier`,
    { environment },
    { everyMs: 10_000 },
  )
  const print = (
    <button type="button" className="button quiet-button" onClick={() => window.print()}>
      Print
    </button>
  )
  return (
    <Page title="Round" acts={print}>
      <Panel read={read}>{(dossier) => <OneRound of={dossier} />}</Panel>
    </Page>
  )
}

function OneRound({ of: dossier }: { of: Dossier }) {
  const { round, movements, events } = dossier
  return (
    <>
      <section className="card" aria-label="How it stands">
        <Sentences of={dossier.waiting_for} />
      </section>
      <RoundFacts of={round} />
      <RoundPicture of={dossier} />
      {!dossier.complete && (
        <p className="notice" data-tone="waiting">
          This round has more movements, events or deliveries than fit here; the lists under Transactions and
          Deliveries have all.
        </p>
      )}
      <h2>Movements</h2>
      <RoundMovements of={movements} />
      <h2>Events and their deliveries</h2>
      <RoundDeliveries of={events} />
      <RoundReceipt of={dossier} />
      <ReplayCard of={round} />
      <RoundProof of={dossier} />
    </>
  )
}

function RoundFacts({ of: round }: { of: Dossier['round'] }) {
  return (
    <section className="card" aria-label="Round">
      <Facts
        facts={{
          Status: <Badge status={round.status} />,
          Game: round.game,
          Player: (
            <Link href={`/player?player_id=${encodeURIComponent(round.player_id)}`}>{round.player_id}</Link>
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
          "Id of the page's request":
            round.client_transaction_id === null ? undefined : <code>{round.client_transaction_id}</code>,
          'Round id at the wallet': <code>{round.wallet_round_id}</code>,
        }}
      />
    </section>
  )
}
