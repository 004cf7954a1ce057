import type { Reversal, RoundState, Win } from './round.ts'

/** A step that a round owes, or is owed, and that can be done. */
export type Owed = { readonly id: string } & (
  | { readonly kind: 'grant-use' | 'grant-return'; readonly grantId: string }
  | { readonly kind: 'stake' }
  | { readonly kind: 'win'; readonly win: Win }
  | { readonly kind: 'reversal'; readonly reversal: Reversal }
)

/**
 * The next step, without those that could not be done just now; null when no other step is owed.
 * @param recover whether stakes without a certain outcome are included
 */
export function nextOwed(round: RoundState, isStuck: (id: string) => boolean, recover: boolean): Owed | null {
  const { grantId, stakes, wins, reversals } = round
  if (grantId !== null && !isStuck(grantId)) {
    if (round.freeBet && round.status === 'PENDING') return { kind: 'grant-use', id: grantId, grantId }
    if (round.grantReturn === 'OWED') return { kind: 'grant-return', id: grantId, grantId }
  }
  const isNext = (one: { state: string; transactionId: string }, state: 'ASKED' | 'OWED') =>
    one.state === state && !isStuck(one.transactionId)
  const stake = recover ? stakes.find((one) => isNext(one, 'ASKED')) : undefined
  if (stake !== undefined) return { kind: 'stake', id: stake.transactionId }
  const win = wins.find((one) => isNext(one, 'OWED'))
  if (win !== undefined) return { kind: 'win', id: win.transactionId, win }
  const reversal = reversals.find((one) => isNext(one, 'OWED'))
  return reversal === undefined ? null : { kind: 'reversal', id: reversal.transactionId, reversal }
}
