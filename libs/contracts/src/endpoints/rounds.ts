import { z } from 'zod'
import { defineEndpoint, forDashboard, everybody } from '../endpoint.ts'
import { freeBetCreateSchema, freeBetSchema } from '../objects/game.ts'
import { movementSchema, transactionBodySchema } from '../objects/movement.ts'
import { roundSchema, roundStatus } from '../objects/round.ts'
import { currency, pageOf, pageQuery, playerId, windowQuery } from '../primitives.ts'
import {
  closedSession,
  gameStates,
  liveSwitches,
  oneRound,
  roundsPage,
  walletAnswers,
  walletBudgetMs,
} from './round-parts.ts'

/**
 * The public routes that the rounds service answers: rounds, operator-driven movements, free bets and reports
 * here. Source: docs/contract.md, sections 4, 5 and 11.
 */

const grantParam = z.strictObject({ grant_id: z.string().max(64) })

// Rounds, seen by the operator
const roundFilters = {
  player_id: playerId.optional(),
  session_id: z.string().max(64).optional(),
  game: z.string().max(64).optional(),
  status: roundStatus.optional(),
  currency: currency.optional(),
  ...windowQuery,
  ...pageQuery,
}
export const listRounds = defineEndpoint({
  route: 'GET /v1/rounds',
  access: { 'operator-api': 'history:read' },
  subject: 'rounds.v1.round.list',
  summary: 'Rounds',
  query: z.strictObject(roundFilters),
  reply: roundsPage,
})
export const getRound = defineEndpoint({
  route: 'GET /v1/rounds/{round_id}',
  access: { 'operator-api': 'history:read' },
  subject: 'rounds.v1.round.show',
  summary: 'One round',
  ...oneRound,
  reply: roundSchema,
})
export const voidRound = defineEndpoint({
  route: 'POST /v1/rounds/{round_id}/void',
  access: { 'operator-api': 'transactions:write' },
  subject: 'rounds.v1.round.void',
  summary: 'Void a round whose stake was never taken for certain',
  ...oneRound,
  reply: roundSchema,
  statuses: [200, 202],
  budgetMs: walletBudgetMs,
  neverShed: true,
  errors: ['ROUND_IN_PROGRESS', 'ROUND_ALREADY_SETTLED'],
})
export const dashboardListRounds = forDashboard(listRounds, everybody)
export const dashboardGetRound = forDashboard(getRound, everybody, { byId: true })

// Operator-driven movements (reads are wallet-bridge's)
export const placeTransaction = defineEndpoint({
  route: 'POST /v1/transactions',
  access: { 'operator-api': 'transactions:write' },
  subject: 'rounds.v1.transaction.place',
  summary: 'Stake, win, refund or rollback of a round that the operator drives',
  body: transactionBodySchema,
  example: {
    type: 'BET',
    transaction_id: 'bet-2026-11-20-0001',
    session_id: 'ses_01jd3v8x5q7r2m4n6p8s0t1w3y',
    amount: '10.00',
    currency: 'EUR',
  },
  reply: movementSchema,
  statuses: [201, 200],
  budgetMs: walletBudgetMs,
  neverShed: true,
  errors: [
    ...liveSwitches,
    ...gameStates,
    ...closedSession,
    ...walletAnswers,
    'SESSION_NOT_FOUND',
    'ROUND_NOT_FOUND',
    'CURRENCY_NOT_SUPPORTED',
    'TRANSACTION_NOT_FOUND',
    'TRANSACTION_CONFLICT',
    'TRANSACTION_ALREADY_REVERSED',
    'ROUND_IN_PROGRESS',
    'ROUND_ALREADY_SETTLED',
    'CONFLICT',
  ],
})

// Free bets
export const createFreeBet = defineEndpoint({
  route: 'POST /v1/free-bets',
  access: { 'operator-api': 'engagement:write' },
  subject: 'rounds.v1.free-bet.create',
  summary: 'Grant free bets',
  body: freeBetCreateSchema,
  reply: freeBetSchema,
  statuses: [201],
  errors: [...gameStates, 'CURRENCY_NOT_SUPPORTED', 'BET_LIMIT_EXCEEDED', 'CONFLICT'],
  idempotent: true,
})
export const listFreeBets = defineEndpoint({
  route: 'GET /v1/free-bets',
  access: { 'operator-api': 'engagement:read' },
  subject: 'rounds.v1.free-bet.list',
  summary: 'Free-bet grants',
  query: z.strictObject({
    player_id: playerId.optional(),
    game: z.string().max(64).optional(),
    status: z.enum(['ACTIVE', 'EXHAUSTED', 'EXPIRED', 'CANCELLED']).optional(),
    ...windowQuery,
    ...pageQuery,
  }),
  reply: pageOf(freeBetSchema),
})
export const getFreeBet = defineEndpoint({
  route: 'GET /v1/free-bets/{grant_id}',
  access: { 'operator-api': 'engagement:read' },
  subject: 'rounds.v1.free-bet.show',
  summary: 'One grant',
  params: grantParam,
  reply: freeBetSchema,
})
export const cancelFreeBet = defineEndpoint({
  route: 'POST /v1/free-bets/{grant_id}/cancel',
  access: { 'operator-api': 'engagement:write' },
  subject: 'rounds.v1.free-bet.cancel',
  summary: 'Cancel a grant',
  params: grantParam,
  reply: freeBetSchema,
  errors: ['CONFLICT'],
})

// Reports. The gateway writes them as CSV for `Accept: text/csv`.
const reportRow = z.strictObject({
  day: z.string().optional(),
  game: z.string().optional(),
  brand: z.string().nullable().optional(),
  currency,
  rounds: z.int(),
  players: z.int(),
  stakes: z.string(),
  payouts: z.string(),
  refunds: z.string(),
  ggr: z.string(),
})
export const reportSchema = z.strictObject({ data: z.array(reportRow) })
const reportQuery = {
  ...windowQuery,
  group_by: z
    .string()
    .regex(
      /^(day|game|currency|brand)(,(day|game|currency|brand))*$/,
      'must be any of day, game, currency, brand, separated by commas',
    )
    .refine((text) => new Set(text.split(',')).size === text.split(',').length, 'names one of them twice')
    .optional(),
}
export const getReport = defineEndpoint({
  route: 'GET /v1/reports/summary',
  access: { 'operator-api': 'reports:read' },
  subject: 'rounds.v1.report.summary',
  summary: 'Stakes, payouts and gross gaming revenue',
  query: z.strictObject(reportQuery),
  reply: reportSchema,
})
export const dashboardGetReport = forDashboard(getReport, everybody)
