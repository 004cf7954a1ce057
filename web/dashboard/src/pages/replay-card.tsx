import type { Dossier } from '@pitboss/contracts/objects/dossier'
import { lazy, Suspense, useState } from 'react'
import { ActButton } from '../parts/act-button.tsx'

const RoundReplay = lazy(() => import('../replay/round-replay.tsx'))

/** The round as the player saw it, drawn when it is asked for; a reason where no page of ours has. */
export function ReplayCard({ of: round }: { of: Dossier['round'] }) {
  const [shown, setShown] = useState(false)
  const why = whyNoReplay(round)
  return (
    <section className="card" aria-label="The round, step by step">
      {shown && why === null ? (
        <Suspense fallback={<div aria-busy aria-label="Loading" />}>
          <RoundReplay of={round} />
        </Suspense>
      ) : (
        <ActButton refused={why} onPress={() => setShown(true)}>
          Show the round step by step
        </ActButton>
      )}
    </section>
  )
}

function whyNoReplay({ driver, status }: Dossier['round']): string | null {
  if (driver !== 'game') return 'Your server drove this round: no page of ours has drawn it.'
  if (status === 'VOIDED' || status === 'FAILED') return 'This round has no outcome to draw.'
  return status === 'SETTLED' ? null : 'This round is not over.'
}
