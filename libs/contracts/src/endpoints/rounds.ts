import { z } from 'zod'
import { defineEndpoint, forDashboard, everybody, ownerAndAdmin } from '../endpoint.ts'
import { freeBetCreateSchema, freeBetSchema, freeBetStatus } from '../objects/game.ts'
import { movementSchema, transactionBodySchema } from '../objects/movement.ts'
import { reportSchema } from '../objects/report.ts'
import { returnStreamSchema } from '../objects/returns.ts'
import { roundSchema, roundStatus } from '../objects/round.ts'
import {
  accountMode,
  currency,
  gameSlug,
  pageOf,
  pageQuery,
  playerId,
  transactionId,
  windowQuery,
} from '../primitives.ts'
import { roundParam, roundsPage, walletBudgetMs } from './round-parts.ts'

/** Routes of rounds, operators' movements, free bets, reports. docs/contract.md, sections 4, 5 and 11. */

const grantParam = z.strictObject({ grant_id: z.string().max(64) })

// Rounds, seen by the operator
const roundFilters = {
  player_id: playerId.optional(),
  session_id: z.string().max(64).optional(),
  client_transaction_id: transactionId.optional(),
  game: z.string().max(64).optional(),
  status: roundStatus.optional(),
  currency: currency.optional(),
  ...windowQuery,
  ...pageQuery,
}
export const listRounds = defineEndpoint('GET /v1/rounds', {
  access: { 'operator-api': 'history:read' },
  subject: 'rounds.v1.round.list',
  query: z.strictObject(roundFilters),
  reply: roundsPage,
})
export const getRound = defineEndpoint('GET /v1/rounds/{round_id}', {
  access: { 'operator-api': 'history:read' },
  subject: 'rounds.v1.round.show',
  params: roundParam,
  reply: roundSchema,
})
export const voidRound = defineEndpoint('POST /v1/rounds/{round_id}/void', {
  access: { 'operator-api': 'transactions:write' },
  subject: 'rounds.v1.round.void',
  params: roundParam,
  reply: roundSchema,
  budgetMs: walletBudgetMs,
  neverShed: true,
})
export const dashboardListRounds = forDashboard(listRounds, everybody)
export const dashboardGetRound = forDashboard(getRound, everybody)

// Operator-driven movements (reads are wallet-bridge's)
export const placeTransaction = defineEndpoint('POST /v1/transactions', {
  access: { 'operator-api': 'transactions:write' },
  subject: 'rounds.v1.transaction.place',
  body: transactionBodySchema,
  reply: movementSchema,
  budgetMs: walletBudgetMs,
  neverShed: true,
})

// Free bets
export const createFreeBet = defineEndpoint('POST /v1/free-bets', {
  access: { 'operator-api': 'engagement:write' },
  subject: 'rounds.v1.free-bet.create',
  body: freeBetCreateSchema,
  reply: freeBetSchema,
})
export const listFreeBets = defineEndpoint('GET /v1/free-bets', {
  access: { 'operator-api': 'engagement:read' },
  subject: 'rounds.v1.free-bet.list',
  query: z.strictObject({
    player_id: playerId.optional(),
    game: z.string().max(64).optional(),
    status: freeBetStatus.optional(),
    ...windowQuery,
    ...pageQuery,
  }),
  reply: pageOf(freeBetSchema),
})
export const getFreeBet = defineEndpoint('GET /v1/free-bets/{grant_id}', {
  access: { 'operator-api': 'engagement:read' },
  subject: 'rounds.v1.free-bet.show',
  params: grantParam,
  reply: freeBetSchema,
})
export const cancelFreeBet = defineEndpoint('POST /v1/free-bets/{grant_id}/cancel', {
  access: { 'operator-api': 'engagement:write' },
  subject: 'rounds.v1.free-bet.cancel',
  params: grantParam,
  reply: freeBetSchema,
})

export const dashboardCreateFreeBet = forDashboard(createFreeBet, ownerAndAdmin)
export const dashboardListFreeBets = forDashboard(listFreeBets, everybody)
export const dashboardGetFreeBet = forDashboard(getFreeBet, everybody)
export const dashboardCancelFreeBet = forDashboard(cancelFreeBet, ownerAndAdmin)

// Reports. The gateway writes them as CSV for `Accept: text/csv`.
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
export const getReport = defineEndpoint('GET /v1/reports/summary', {
  access: { 'operator-api': 'reports:read' },
  subject: 'rounds.v1.report.summary',
  query: z.strictObject(reportQuery),
  reply: reportSchema,
})
export const dashboardGetReport = forDashboard(getReport, everybody)

// The watch of returns to players. docs/contract.md, section 11, "Returns"
export const dashboardListReturns = defineEndpoint('GET /v1/dashboard/returns', {
  access: everybody,
  subject: 'rounds.v1.returns.list-for-dashboard',
  query: z.strictObject({
    environment: accountMode.optional(),
    game: gameSlug.optional(),
    currency: currency.optional(),
    ...pageQuery,
  }),
  reply: pageOf(returnStreamSchema),
})
