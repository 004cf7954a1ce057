import type { FlagRule, FlagRules } from '@pitboss/contracts/objects/flag'
import { parseAmount } from '@pitboss/money/amount'
import type { MovementState } from '../../../rules/movement.ts'

type InRound = Pick<MovementState, 'type' | 'status'> & {
  readonly reference: string
  readonly amount: string
  readonly currency: string
}

/** Whether a movement gives money back after its round's win, itself or a stake; references sort by time. */
export function isBackAfterWin(
  { type, reference }: Pick<InRound, 'type' | 'reference'>,
  round: readonly InRound[],
): boolean {
  if (type !== 'ROLLBACK' && type !== 'REFUND') return false
  return round.some(
    (other) =>
      other.type === 'WIN' &&
      other.status !== 'FAILED' &&
      other.reference < reference &&
      parseAmount(other.amount, other.currency) > 0n,
  )
}

/** Whose movements of unknown outcome are counted together, and how many of a UTC day raise a flag. */
export function countsOf(
  { playerId, createdAt }: { readonly playerId: string; readonly createdAt: Date },
  { unknown_outcomes: limits }: FlagRules,
): readonly { rule: FlagRule; subject: string; limit: number }[] {
  const day = createdAt.toISOString().slice(0, 10)
  const ofPlayer = { rule: 'UNKNOWN_OUTCOMES_OF_PLAYER', subject: `${day}/player/${playerId}` } as const
  const ofWallet = { rule: 'UNKNOWN_OUTCOMES_OF_WALLET', subject: `${day}/wallet` } as const
  return [
    ...(limits.player === null ? [] : [{ ...ofPlayer, limit: limits.player }]),
    ...(limits.wallet === null ? [] : [{ ...ofWallet, limit: limits.wallet }]),
  ]
}
