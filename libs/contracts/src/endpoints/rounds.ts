import type { ErrorCode } from '@pitboss/errors/catalogue'
import { z } from 'zod'
import { defineEndpoint, forDashboard } from '../endpoint.ts'
import { freeBetCreateSchema, freeBetSchema } from '../objects/free-bet.ts'
import { gamePatchSchema, gameSchema } from '../objects/game.ts'
import { movementSchema, transactionBodySchema } from '../objects/movement.ts'
import { roundSchema, roundStatus } from '../objects/round.ts'
import {
  launchedSessionSchema,
  sessionCreateSchema,
  sessionSchema,
  sessionStatus,
} from '../objects/session.ts'
import {
  amount,
  balance,
  clientSeed,
  currency,
  pageOf,
  pageQuery,
  playerId,
  transactionId,
  windowQuery,
} from '../primitives.ts'
import { everybody, ownerAndAdmin } from './roles.ts'

/** The public routes that the rounds service answers. Source: docs/contract.md, sections 4, 5 and 11. */

const service = 'rounds' as const
const slugParam = z.strictObject({ slug: z.string().max(64) })
const sessionParam = z.strictObject({ session_id: z.string().max(64) })
const roundParam = z.strictObject({ round_id: z.string().max(64) })
const grantParam = z.strictObject({ grant_id: z.string().max(64) })
const player = { 'game-launcher': 'that session' } as const

/** Time for a wallet call of at most 15 s and the writes after it. */
const walletBudgetMs = 18_000

const liveSwitches: readonly ErrorCode[] = ['OPERATOR_NOT_LIVE', 'REAL_MONEY_DISABLED', 'FORBIDDEN']
const walletAnswers: readonly ErrorCode[] = [
  'INSUFFICIENT_FUNDS',
  'PLAYER_BLOCKED',
  'BET_LIMIT_EXCEEDED',
  'CURRENCY_MISMATCH',
  'WALLET_TIMEOUT',
  'WALLET_UNAVAILABLE',
  'WALLET_REJECTED',
  'WALLET_NOT_CONFIGURED',
]
const closedSession: readonly ErrorCode[] = ['SESSION_EXPIRED', 'SESSION_CLOSED']
const gameStates: readonly ErrorCode[] = ['GAME_NOT_FOUND', 'GAME_NOT_ENABLED', 'GAME_UNAVAILABLE']

// Catalogue
const gamesPage = pageOf(gameSchema)
export const listGames = defineEndpoint({
  route: 'GET /v1/games',
  access: { 'operator-api': 'games:read' },
  service,
  name: 'game.list',
  summary: 'The catalogue',
  query: z.strictObject({ ...pageQuery }),
  reply: gamesPage,
})
export const getGame = defineEndpoint({
  route: 'GET /v1/games/{slug}',
  access: { 'operator-api': 'games:read' },
  service,
  name: 'game.show',
  summary: 'One game',
  params: slugParam,
  reply: gameSchema,
  notFound: 'GAME_NOT_FOUND',
})
export const patchGame = defineEndpoint({
  route: 'PATCH /v1/games/{slug}',
  access: { 'operator-api': 'games:write' },
  service,
  name: 'game.change',
  summary: 'Switch a game on or off, set stake limits',
  params: slugParam,
  body: gamePatchSchema,
  reply: gameSchema,
  errors: ['CURRENCY_NOT_SUPPORTED'],
  notFound: 'GAME_NOT_FOUND',
})
export const dashboardListGames = forDashboard(listGames, {
  route: 'GET /v1/dashboard/games',
  roles: everybody,
})
export const dashboardPatchGame = forDashboard(patchGame, {
  route: 'PATCH /v1/dashboard/games/{slug}',
  roles: ownerAndAdmin,
})

// Sessions
const sessionsPage = pageOf(sessionSchema)
const sessionFilters = {
  player_id: playerId.optional(),
  status: sessionStatus.optional(),
  ...windowQuery,
  ...pageQuery,
}
export const createSession = defineEndpoint({
  route: 'POST /v1/sessions',
  access: { 'operator-api': 'sessions:write' },
  service,
  name: 'session.create',
  summary: 'Open a session for a player and a game',
  body: sessionCreateSchema,
  example: { player_id: 'player-1', game: 'dice', currency: 'EUR', language: 'en' },
  reply: sessionSchema,
  answer: launchedSessionSchema,
  statuses: [201],
  errors: [
    ...gameStates,
    ...liveSwitches,
    'BRAND_NOT_FOUND',
    'CURRENCY_NOT_SUPPORTED',
    'WALLET_NOT_CONFIGURED',
    'CONFLICT',
  ],
  idempotent: true,
})
export const listSessions = defineEndpoint({
  route: 'GET /v1/sessions',
  access: { 'operator-api': 'sessions:read' },
  service,
  name: 'session.list',
  summary: 'Sessions',
  query: z.strictObject(sessionFilters),
  reply: sessionsPage,
})
export const getSession = defineEndpoint({
  route: 'GET /v1/sessions/{session_id}',
  access: { 'operator-api': 'sessions:read' },
  service,
  name: 'session.show',
  summary: 'One session',
  params: sessionParam,
  reply: sessionSchema,
  notFound: 'SESSION_NOT_FOUND',
})
export const closeSession = defineEndpoint({
  route: 'POST /v1/sessions/{session_id}/close',
  access: { 'operator-api': 'sessions:write' },
  service,
  name: 'session.close',
  summary: 'End the sitting',
  params: sessionParam,
  reply: sessionSchema,
  notFound: 'SESSION_NOT_FOUND',
})
export const dashboardListSessions = forDashboard(listSessions, {
  route: 'GET /v1/dashboard/sessions',
  roles: everybody,
})
export const dashboardGetSession = forDashboard(getSession, {
  route: 'GET /v1/dashboard/sessions/{session_id}',
  roles: everybody,
  byId: true,
})

// Rounds, seen by the operator
const roundsPage = pageOf(roundSchema)
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
  service,
  name: 'round.list',
  summary: 'Rounds',
  query: z.strictObject(roundFilters),
  reply: roundsPage,
})
export const getRound = defineEndpoint({
  route: 'GET /v1/rounds/{round_id}',
  access: { 'operator-api': 'history:read' },
  service,
  name: 'round.show',
  summary: 'One round',
  params: roundParam,
  reply: roundSchema,
  notFound: 'ROUND_NOT_FOUND',
})
export const voidRound = defineEndpoint({
  route: 'POST /v1/rounds/{round_id}/void',
  access: { 'operator-api': 'transactions:write' },
  service,
  name: 'round.void',
  summary: 'Void a round whose stake was never taken for certain',
  params: roundParam,
  reply: roundSchema,
  statuses: [200, 202],
  budgetMs: walletBudgetMs,
  neverShed: true,
  errors: ['ROUND_IN_PROGRESS', 'ROUND_ALREADY_SETTLED'],
  notFound: 'ROUND_NOT_FOUND',
})
export const dashboardListRounds = forDashboard(listRounds, {
  route: 'GET /v1/dashboard/rounds',
  roles: everybody,
})
export const dashboardGetRound = forDashboard(getRound, {
  route: 'GET /v1/dashboard/rounds/{round_id}',
  roles: everybody,
  byId: true,
})

// Operator-driven movements (reads are wallet-bridge's)
export const placeTransaction = defineEndpoint({
  route: 'POST /v1/transactions',
  access: { 'operator-api': 'transactions:write' },
  service,
  name: 'transaction.place',
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
  service,
  name: 'free-bet.create',
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
  service,
  name: 'free-bet.list',
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
  service,
  name: 'free-bet.show',
  summary: 'One grant',
  params: grantParam,
  reply: freeBetSchema,
})
export const cancelFreeBet = defineEndpoint({
  route: 'POST /v1/free-bets/{grant_id}/cancel',
  access: { 'operator-api': 'engagement:write' },
  service,
  name: 'free-bet.cancel',
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
  service,
  name: 'report.summary',
  summary: 'Stakes, payouts and gross gaming revenue',
  query: z.strictObject(reportQuery),
  reply: reportSchema,
})
export const dashboardGetReport = forDashboard(getReport, {
  route: 'GET /v1/dashboard/reports/summary',
  roles: everybody,
})

// Player routes: the session is the caller's (`actor.kind = "session"`).
export const playerSessionSchema = z.strictObject({
  session: sessionSchema,
  game: gameSchema,
  balance: z.strictObject({ amount: balance, currency }).nullable(),
  open_round: roundSchema.nullable(),
  next_round: z.strictObject({ server_seed_hash: z.string(), nonce: z.int() }),
  free_bets: z.array(
    z.strictObject({
      grant_id: z.string(),
      remaining: z.int(),
      stake: amount,
      expires_at: z.string().nullable(),
    }),
  ),
})
export const getPlayerSession = defineEndpoint({
  route: 'GET /v1/game/session',
  access: player,
  service,
  name: 'player.session',
  summary: 'Session, balance, open round and the next commitment',
  reply: playerSessionSchema,
  budgetMs: walletBudgetMs,
})
export const listPlayerRounds = defineEndpoint({
  route: 'GET /v1/game/rounds',
  access: player,
  service,
  name: 'player.rounds',
  summary: "This player's rounds of this game",
  query: z.strictObject({ ...pageQuery }),
  reply: roundsPage,
})
export const getPlayerRound = defineEndpoint({
  route: 'GET /v1/game/rounds/{round_id}',
  access: player,
  service,
  name: 'player.round',
  summary: "One of this player's rounds",
  params: roundParam,
  reply: roundSchema,
  notFound: 'ROUND_NOT_FOUND',
})
export const playRound = defineEndpoint({
  route: 'POST /v1/game/rounds',
  access: player,
  service,
  name: 'player.play',
  summary: 'Play a round',
  body: z.strictObject({
    stake: amount,
    bet: z.record(z.string(), z.unknown()),
    client_seed: clientSeed.nullable().optional(),
    free_bet: z.boolean().optional(),
    transaction_id: transactionId.optional(),
  }),
  example: {
    stake: '10.00',
    bet: { target: '50.00', direction: 'over' },
    client_seed: 'lucky-7',
  },
  reply: roundSchema,
  statuses: [201],
  budgetMs: walletBudgetMs,
  errors: [
    ...liveSwitches,
    ...gameStates,
    ...closedSession,
    ...walletAnswers,
    'CURRENCY_NOT_SUPPORTED',
    'ROUND_IN_PROGRESS',
    'TRANSACTION_CONFLICT',
  ],
})
export const revealTile = defineEndpoint({
  route: 'POST /v1/game/rounds/{round_id}/reveal',
  access: player,
  service,
  name: 'player.reveal',
  summary: 'Open a tile',
  params: roundParam,
  body: z.strictObject({ tile: z.int().min(0).max(24) }),
  reply: roundSchema,
  budgetMs: walletBudgetMs,
  neverShed: true,
  errors: ['ROUND_IN_PROGRESS', 'ROUND_ALREADY_SETTLED'],
  notFound: 'ROUND_NOT_FOUND',
})
export const cashOut = defineEndpoint({
  route: 'POST /v1/game/rounds/{round_id}/cashout',
  access: player,
  service,
  name: 'player.cashout',
  summary: 'Take the winnings',
  params: roundParam,
  reply: roundSchema,
  budgetMs: walletBudgetMs,
  neverShed: true,
  errors: ['ROUND_IN_PROGRESS', 'ROUND_ALREADY_SETTLED'],
  notFound: 'ROUND_NOT_FOUND',
})
export const fairnessBookEntry = z.strictObject({
  nonce: z.int(),
  server_seed_hash: z.string(),
  client_seed: z.string().nullable(),
  server_seed: z.string().nullable(),
  round_id: z.string().nullable(),
  status: roundStatus.nullable(),
})
export const getFairnessBook = defineEndpoint({
  route: 'GET /v1/game/fairness',
  access: player,
  service,
  name: 'player.fairness',
  summary: 'Commitment, reveal and end of every nonce',
  query: z.strictObject({ ...pageQuery }),
  reply: pageOf(fairnessBookEntry),
})
