import type { Nonce } from '@pitboss/contracts/objects/player'
import { verifyRound } from '@pitboss/fairness/verify-round'

/** `open`: nothing can be computed yet. `gap`: there is no round. `mismatch`: something differs. */
export type Verdict = 'verified' | 'open' | 'gap' | 'mismatch'
export type Judgement = {
  readonly nonce: number
  readonly verdict: Verdict
  /** What was found, in words. */
  readonly words: string
  readonly roundId: string | null
}

const gaps = {
  SKIPPED: 'Its round was lost with a database, and its place is held. The audit log names it as round.heal.',
  MISSING: 'A later nonce was used, and there is no round of this one.',
} as const

/**
 * Computes one nonce of a player's book again, in the browser: the commitment on record, the seed, the draw,
 * the outcome and the payout. Source: docs/contract.md, sections 3 and 4.
 */
export function judgeNonce({ nonce, state, commitment, round }: Nonce): Judgement {
  const judged = (verdict: Verdict, words: string): Judgement => ({
    ...{ nonce, verdict, words },
    roundId: round?.round_id ?? null,
  })
  if (state === 'SHOWN') return judged('open', 'Committed to, and no bet yet.')
  if (state === 'SKIPPED' || state === 'MISSING') return judged('gap', gaps[state])
  if (round === null) return judged('mismatch', 'It counts as played, and no round came with it.')
  const { fairness } = round
  if (fairness.nonce !== nonce) return judged('mismatch', `Its round names nonce ${fairness.nonce}.`)
  if (commitment === null) return judged('mismatch', 'No commitment is on record apart from the round.')
  if (commitment.server_seed_hash !== fairness.server_seed_hash) {
    const { server_seed_hash: stored } = commitment
    return judged(
      'mismatch',
      `The round names commitment ${fairness.server_seed_hash}; on record is ${stored}.`,
    )
  }
  if (round.completed_at === null)
    return judged('open', `The round is ${round.status}: its seed stays secret until it is over.`)
  const { valid, checks } = verifyRound(round)
  const wrong = checks.filter(({ ok }) => !ok)
  if (!valid) {
    const all = wrong.map(({ name, expected, actual }) => `${name}: computed ${expected}, recorded ${actual}`)
    return judged('mismatch', `${all.join('; ')}.`)
  }
  return judged(
    'verified',
    round.driver === 'operator'
      ? 'The seed fits the commitment. Your server decided the outcome, so nothing was drawn.'
      : 'Commitment, draw, outcome and payout come out the same.',
  )
}
