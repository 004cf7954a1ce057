import type { ErrorCode } from '@pitboss/errors/catalogue'
import { z } from 'zod'
import { roundSchema } from '../objects/round.ts'
import { pageOf } from '../primitives.ts'

/** Parts that several routes of the rounds service share. Source: docs/contract.md, sections 4, 5 and 11. */

export const oneRound = {
  params: z.strictObject({ round_id: z.string().max(64) }),
  notFound: 'ROUND_NOT_FOUND',
} as const
export const roundsPage = pageOf(roundSchema)

/** Time for a wallet call of at most 15 s and the writes after it. */
export const walletBudgetMs = 18_000

export const liveSwitches: readonly ErrorCode[] = ['OPERATOR_NOT_LIVE', 'REAL_MONEY_DISABLED', 'FORBIDDEN']
export const walletAnswers: readonly ErrorCode[] = [
  'INSUFFICIENT_FUNDS',
  'PLAYER_BLOCKED',
  'BET_LIMIT_EXCEEDED',
  'CURRENCY_MISMATCH',
  'WALLET_TIMEOUT',
  'WALLET_UNAVAILABLE',
  'WALLET_REJECTED',
  'WALLET_NOT_CONFIGURED',
]
export const closedSession: readonly ErrorCode[] = ['SESSION_EXPIRED', 'SESSION_CLOSED']
export const gameStates: readonly ErrorCode[] = ['GAME_NOT_FOUND', 'GAME_NOT_ENABLED', 'GAME_UNAVAILABLE']
