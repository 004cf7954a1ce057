import { z } from 'zod'
import { defineEndpoint } from '../endpoint.ts'
import { gameSchema, grantCount } from '../objects/game.ts'
import { receiptCreateSchema, receiptSchema, servedPageSchema } from '../objects/receipt.ts'
import { gameBet, roundSchema, roundStatus, tile } from '../objects/round.ts'
import { realityCheckS, sessionSchema } from '../objects/session.ts'
import {
  amount,
  balance,
  clientSeed,
  count,
  currency,
  newTransactionId,
  nonce,
  pageOf,
  pageQuery,
} from '../primitives.ts'
import { roundParam, roundsPage, walletBudgetMs } from './round-parts.ts'

/** Routes of a player's browser, about the caller's session. Source: docs/contract.md, sections 4 and 11. */

const player = { 'game-launcher': 'that session' } as const

/** The figures of a session that its jurisdiction wants in the player's view. */
const protectionSchema = z.strictObject({
  start_gap_s: count.nullable(),
  elapsed_s: count,
  net_spend: z.strictObject({ amount: balance, currency }),
  reality_check: z.strictObject({ every_s: realityCheckS, due_in_s: count }).nullable(),
})

export const playerSessionSchema = z.strictObject({
  session: sessionSchema,
  game: gameSchema,
  balance: z.strictObject({ amount: balance, currency }).nullable(),
  open_round: roundSchema.nullable(),
  next_round: z.strictObject({ server_seed_hash: z.string(), nonce }),
  free_bets: z.array(
    z.strictObject({
      grant_id: z.string(),
      remaining: grantCount,
      stake: amount,
      expires_at: z.string().nullable(),
    }),
  ),
  /** Absent where the session's jurisdiction asks for nothing in view. */
  protection: protectionSchema.optional(),
})
export type PlayerSession = z.infer<typeof playerSessionSchema>
export const getPlayerSession = defineEndpoint('GET /v1/game/session', {
  access: player,
  subject: 'rounds.v1.player.session',
  reply: playerSessionSchema,
  budgetMs: walletBudgetMs,
})
export const answerRealityCheck = defineEndpoint('POST /v1/game/session/reality-check', {
  access: player,
  subject: 'rounds.v1.player.reality-check',
  body: z.strictObject({ choice: z.enum(['continue', 'stop']) }),
  reply: sessionSchema,
})
export const listPlayerRounds = defineEndpoint('GET /v1/game/rounds', {
  access: player,
  subject: 'rounds.v1.player.rounds',
  query: z.strictObject(pageQuery),
  reply: roundsPage,
})
export const getPlayerRound = defineEndpoint('GET /v1/game/rounds/{round_id}', {
  access: player,
  subject: 'rounds.v1.player.round',
  params: roundParam,
  reply: roundSchema,
})
export const playRound = defineEndpoint('POST /v1/game/rounds', {
  access: player,
  subject: 'rounds.v1.player.play',
  body: z.strictObject({
    stake: amount,
    bet: gameBet,
    client_seed: clientSeed.nullable().optional(),
    free_bet: z.boolean().optional(),
    transaction_id: newTransactionId.optional(),
  }),
  reply: roundSchema,
  budgetMs: walletBudgetMs,
})
export const revealTile = defineEndpoint('POST /v1/game/rounds/{round_id}/reveal', {
  access: player,
  subject: 'rounds.v1.player.reveal',
  params: roundParam,
  body: z.strictObject({ tile }),
  reply: roundSchema,
  budgetMs: walletBudgetMs,
  neverShed: true,
})
export const cashOut = defineEndpoint('POST /v1/game/rounds/{round_id}/cashout', {
  access: player,
  subject: 'rounds.v1.player.cashout',
  params: roundParam,
  reply: roundSchema,
  budgetMs: walletBudgetMs,
  neverShed: true,
})
export const sendReceipt = defineEndpoint('POST /v1/game/rounds/{round_id}/receipt', {
  access: player,
  subject: 'rounds.v1.player.receipt',
  params: roundParam,
  body: receiptCreateSchema,
  added: servedPageSchema,
  reply: receiptSchema,
})
export const fairnessBookEntry = z.strictObject({
  nonce,
  server_seed_hash: z.string(),
  client_seed: z.string().nullable(),
  server_seed: z.string().nullable(),
  round_id: z.string().nullable(),
  status: roundStatus.nullable(),
})
export const getFairnessBook = defineEndpoint('GET /v1/game/fairness', {
  access: player,
  subject: 'rounds.v1.player.fairness',
  query: z.strictObject(pageQuery),
  reply: pageOf(fairnessBookEntry),
})
