import { defaultFlagRules, type FlagRule, type FlagRules } from '@pitboss/contracts/objects/flag'
import { parseAmount } from '@pitboss/money/amount'
import type { MovementState, MovementType } from './movement.ts'

/** Why a movement is looked at after its write. The write itself holds the reason, so none is lost. */
export type LookReason = (typeof lookReasons)[number]

const lookReasons = ['BIG_WIN', 'UNKNOWN_OUTCOME', 'BACK_AFTER_WIN'] as const

export function isLookReason(value: unknown): value is LookReason {
  return lookReasons.some((reason) => reason === value)
}

export function flagRulesOf(wallet: { readonly flagRules?: FlagRules } | null): FlagRules {
  return wallet?.flagRules ?? defaultFlagRules
}

type Money = { readonly type: MovementType; readonly amount: string; readonly currency: string }

/** Whether a win reaches the threshold of its currency. Without a threshold none does. */
export function isBigWin({ type, amount, currency }: Money, thresholds: FlagRules['big_win']): boolean {
  if (type !== 'WIN') return false
  const threshold = thresholds.find((one) => one.currency === currency)
  if (threshold === undefined) return false
  return parseAmount(amount, currency) >= parseAmount(threshold.amount, currency)
}

type UnknownTries = Pick<MovementState, 'unknownTries'>

export function isFirstUnknown(before: UnknownTries, after: UnknownTries): boolean {
  return before.unknownTries === 0 && after.unknownTries > 0
}

type InRound = Money & Pick<MovementState, 'status'> & { readonly reference: string }

/** Whether a movement gives money back after its round's win, itself or a stake; references sort by time. */
export function isBackAfterWin(movement: Pick<InRound, 'type' | 'reference'>, round: readonly InRound[]) {
  const { type, reference } = movement
  if (type !== 'ROLLBACK' && type !== 'REFUND') return false
  const isEarlierWin = (other: InRound) =>
    other.type === 'WIN' && other.status !== 'FAILED' && other.reference < reference
  return round.some((other) => isEarlierWin(other) && parseAmount(other.amount, other.currency) > 0n)
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
