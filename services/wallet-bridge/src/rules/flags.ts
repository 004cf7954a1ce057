import { defaultFlagRules, type FlagRules } from '@pitboss/contracts/objects/flag'
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

/** Tells whether a win reaches the threshold of its currency. Without a threshold none does. */
export function isBigWin({ type, amount, currency }: Money, thresholds: FlagRules['big_win']): boolean {
  if (type !== 'WIN') return false
  const threshold = thresholds.find((one) => one.currency === currency)
  if (threshold === undefined) return false
  return parseAmount(amount, currency) >= parseAmount(threshold.amount, currency)
}

export function isFirstUnknown(
  before: Pick<MovementState, 'unknownTries'>,
  after: Pick<MovementState, 'unknownTries'>,
): boolean {
  return before.unknownTries === 0 && after.unknownTries > 0
}
