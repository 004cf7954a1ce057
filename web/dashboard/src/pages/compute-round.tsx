import type { Dossier } from '@pitboss/contracts/objects/dossier'
import { useState } from 'react'
import { useAct } from '../hooks/use-act.ts'
import { ActButton } from '../parts/act-button.tsx'
import { ErrorNotice } from '../parts/error-notice.tsx'
import type { Judgement } from '../fairness/judge-nonce.ts'
import { useDashboard } from '../session/dashboard-context.ts'

const tones = { verified: 'good', open: 'waiting', gap: 'problem', mismatch: 'problem' } as const

/** Computes the round again in this page, against the commitment that was stored before the bet. */
export function ComputeRound({ of: round }: { of: Dossier['round'] }) {
  const { api, environment } = useDashboard()
  const [judged, setJudged] = useState<Judgement | null>(null)
  const act = useAct(async () => {
    const nonce = String(round.fairness.nonce)
    const [{ bookPage, bookPath }, { judgeNonce }] = await Promise.all([
      import('../fairness/recompute.ts'),
      import('../fairness/judge-nonce.ts'),
    ])
    const query = { environment, from_nonce: nonce, to_nonce: nonce }
    const { data } = await api.get(bookPage, bookPath(round.player_id, round.game), query)
    const [entry] = data
    setJudged(
      entry === undefined
        ? { nonce: round.fairness.nonce, verdict: 'gap', words: 'The book has no such nonce.', roundId: null }
        : judgeNonce(entry),
    )
  })
  return (
    <div className="compute">
      <ActButton busy={act.busy} onPress={() => void act.run()}>
        Compute it here
      </ActButton>
      <ErrorNotice error={act.error} />
      {judged !== null && (
        <p role="status" className="notice" data-tone={tones[judged.verdict]}>
          <strong>{judged.verdict === 'verified' ? 'It verifies in this page.' : judged.verdict}</strong>{' '}
          {judged.words}
        </p>
      )}
    </div>
  )
}
