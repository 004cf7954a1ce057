import type { Random } from '../random.ts'

/** A rule of the sandbox wallet, see its README. */
export type WalletRule = {
  operation: 'debit' | 'credit' | 'rollback' | 'any'
  probability: number
  kind: string
  apply?: boolean
  delay_ms?: number
  http_status?: number
  code?: string
}

const any = (kind: string, probability: number, more: Partial<WalletRule> = {}): WalletRule => ({
  operation: 'any',
  probability,
  kind,
  ...more,
})

const rubbish = ['rubbish', 'no_status', 'wrong_currency', 'number_balance', 'redirect', 'oversized']
const refusals: [code: string, http_status: number][] = [
  ['INSUFFICIENT_FUNDS', 402],
  ['PLAYER_BLOCKED', 403],
  ['TEMPORARY_ERROR', 400],
  ['SOMETHING_ELSE', 422],
]

const lossy = [any('drop', 0.1), any('drop', 0.12, { apply: true })]
const failing = [
  any('http_error', 0.1, { http_status: 503 }),
  any('http_error', 0.12, { http_status: 500, apply: true }),
  any('http_error', 0.05, { http_status: 429 }),
]
const hanging = [any('hang', 0.05), any('hang', 0.06, { apply: true })]
const slow = [any('delay', 0.4, { delay_ms: 250 })]
const talkingRubbish = rubbish.map((kind) => any(kind, 0.04))
const refusing = refusals.map(([code, http_status]) => any('refuse', 0.06, { code, http_status }))
/**
 * Takes the stake, says nothing, and refuses when it is asked again: what tempts a service to believe the
 * refusal.
 */
const treacherous = [
  any('drop', 0.3, { apply: true }),
  any('refuse', 0.4, { code: 'INSUFFICIENT_FUNDS', http_status: 402 }),
]
const late = [any('delay', 0.08, { delay_ms: 1600 })]

/** Moods that a wallet may have for a few seconds. */
export const walletMoods: Readonly<Record<string, readonly WalletRule[]>> = {
  calm: [],
  slow,
  lossy,
  failing,
  hanging,
  rubbish: talkingRubbish,
  refusing,
  treacherous,
  late,
  dead: [any('drop', 1)],
  everything: [...lossy, ...failing, ...hanging, ...talkingRubbish, ...refusing, ...late].map((rule) => ({
    ...rule,
    probability: rule.probability / 2,
  })),
}

const weighted = [
  'calm',
  'slow',
  'lossy',
  'lossy',
  'failing',
  'failing',
  'hanging',
  'rubbish',
  'refusing',
  'refusing',
  'treacherous',
  'late',
  'dead',
  'everything',
  'everything',
  'everything',
]

export function pickMood(random: Random, moods: readonly string[] = weighted): string {
  return random.pick(moods)
}
