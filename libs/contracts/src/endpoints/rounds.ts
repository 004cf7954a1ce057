import { z } from 'zod'
import { defineEndpoint } from '../endpoint.ts'
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
  setupEnvironment,
  transactionId,
  windowQuery,
} from '../primitives.ts'

/** The public routes that the rounds service answers. Source: contract sections 4, 5 and 11. */

const service = 'rounds' as const
const slugParam = z.strictObject({ slug: z.string().max(64) })
const sessionParam = z.strictObject({ session_id: z.string().max(64) })
const roundParam = z.strictObject({ round_id: z.string().max(64) })
const grantParam = z.strictObject({ grant_id: z.string().max(64) })
const dashboardEnvironment = { environment: setupEnvironment.optional() }

/** A call to the wallet may take 15 s and is waited for; what follows is quick. */
const walletBudgetMs = 18_000

// Catalogue
const gamesPage = pageOf(gameSchema)
export const listGames = defineEndpoint({
  route: 'GET /v1/games',
  service,
  name: 'game.list',
  summary: 'The catalogue',
  query: z.strictObject({ ...pageQuery }),
  reply: gamesPage,
})
export const getGame = defineEndpoint({
  route: 'GET /v1/games/{slug}',
  service,
  name: 'game.show',
  summary: 'One game',
  params: slugParam,
  reply: gameSchema,
})
export const patchGame = defineEndpoint({
  route: 'PATCH /v1/games/{slug}',
  service,
  name: 'game.change',
  summary: 'Switch a game on or off, set stake limits',
  params: slugParam,
  body: gamePatchSchema,
  reply: gameSchema,
})
export const dashboardListGames = defineEndpoint({
  route: 'GET /v1/dashboard/games',
  service,
  name: 'game.list-for-dashboard',
  summary: 'The catalogue',
  query: z.strictObject({ ...dashboardEnvironment, ...pageQuery }),
  reply: gamesPage,
})
export const dashboardPatchGame = defineEndpoint({
  route: 'PATCH /v1/dashboard/games/{slug}',
  service,
  name: 'game.change-for-dashboard',
  summary: 'Switch a game on or off, set stake limits',
  params: slugParam,
  query: z.strictObject({ ...dashboardEnvironment }),
  body: gamePatchSchema,
  reply: gameSchema,
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
  service,
  name: 'session.create',
  summary: 'Open a session for a player and a game',
  body: sessionCreateSchema,
  reply: sessionSchema,
  answer: launchedSessionSchema,
  statuses: [201],
})
export const listSessions = defineEndpoint({
  route: 'GET /v1/sessions',
  service,
  name: 'session.list',
  summary: 'Sessions',
  query: z.strictObject(sessionFilters),
  reply: sessionsPage,
})
export const getSession = defineEndpoint({
  route: 'GET /v1/sessions/{session_id}',
  service,
  name: 'session.show',
  summary: 'One session',
  params: sessionParam,
  reply: sessionSchema,
})
export const closeSession = defineEndpoint({
  route: 'POST /v1/sessions/{session_id}/close',
  service,
  name: 'session.close',
  summary: 'End the sitting',
  params: sessionParam,
  reply: sessionSchema,
})
export const dashboardListSessions = defineEndpoint({
  route: 'GET /v1/dashboard/sessions',
  service,
  name: 'session.list-for-dashboard',
  summary: 'Sessions',
  query: z.strictObject({ ...dashboardEnvironment, ...sessionFilters }),
  reply: sessionsPage,
})
export const dashboardGetSession = defineEndpoint({
  route: 'GET /v1/dashboard/sessions/{session_id}',
  service,
  name: 'session.show-for-dashboard',
  summary: 'One session',
  params: sessionParam,
  query: z.strictObject({ ...dashboardEnvironment }),
  reply: sessionSchema,
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
  service,
  name: 'round.list',
  summary: 'Rounds',
  query: z.strictObject(roundFilters),
  reply: roundsPage,
})
export const getRound = defineEndpoint({
  route: 'GET /v1/rounds/{round_id}',
  service,
  name: 'round.show',
  summary: 'One round',
  params: roundParam,
  reply: roundSchema,
})
export const voidRound = defineEndpoint({
  route: 'POST /v1/rounds/{round_id}/void',
  service,
  name: 'round.void',
  summary: 'Void a round whose stake was never taken for certain',
  params: roundParam,
  reply: roundSchema,
  statuses: [200, 202],
  budgetMs: walletBudgetMs,
  neverShed: true,
})
export const dashboardListRounds = defineEndpoint({
  route: 'GET /v1/dashboard/rounds',
  service,
  name: 'round.list-for-dashboard',
  summary: 'Rounds',
  query: z.strictObject({ ...dashboardEnvironment, ...roundFilters }),
  reply: roundsPage,
})
export const dashboardGetRound = defineEndpoint({
  route: 'GET /v1/dashboard/rounds/{round_id}',
  service,
  name: 'round.show-for-dashboard',
  summary: 'One round',
  params: roundParam,
  query: z.strictObject({ ...dashboardEnvironment }),
  reply: roundSchema,
})

// Operator-driven movements (reads are wallet-bridge's)
export const placeTransaction = defineEndpoint({
  route: 'POST /v1/transactions',
  service,
  name: 'transaction.place',
  summary: 'Stake, win, refund or rollback of a round that the operator drives',
  body: transactionBodySchema,
  reply: movementSchema,
  statuses: [201, 200],
  budgetMs: walletBudgetMs,
  neverShed: true,
})

// Free bets
export const createFreeBet = defineEndpoint({
  route: 'POST /v1/free-bets',
  service,
  name: 'free-bet.create',
  summary: 'Grant free bets',
  body: freeBetCreateSchema,
  reply: freeBetSchema,
  statuses: [201],
})
export const listFreeBets = defineEndpoint({
  route: 'GET /v1/free-bets',
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
  service,
  name: 'free-bet.show',
  summary: 'One grant',
  params: grantParam,
  reply: freeBetSchema,
})
export const cancelFreeBet = defineEndpoint({
  route: 'POST /v1/free-bets/{grant_id}/cancel',
  service,
  name: 'free-bet.cancel',
  summary: 'Cancel a grant',
  params: grantParam,
  reply: freeBetSchema,
})

// Reports. `format` is set by the gateway from the Accept header.
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
  service,
  name: 'report.summary',
  summary: 'Stakes, payouts and gross gaming revenue',
  query: z.strictObject(reportQuery),
  reply: reportSchema,
})
export const dashboardGetReport = defineEndpoint({
  route: 'GET /v1/dashboard/reports/summary',
  service,
  name: 'report.summary-for-dashboard',
  summary: 'Stakes, payouts and gross gaming revenue',
  query: z.strictObject({ ...dashboardEnvironment, ...reportQuery }),
  reply: reportSchema,
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
  service,
  name: 'player.session',
  summary: 'Session, balance, open round and the next commitment',
  reply: playerSessionSchema,
  budgetMs: walletBudgetMs,
})
export const listPlayerRounds = defineEndpoint({
  route: 'GET /v1/game/rounds',
  service,
  name: 'player.rounds',
  summary: "This player's rounds of this game",
  query: z.strictObject({ ...pageQuery }),
  reply: roundsPage,
})
export const getPlayerRound = defineEndpoint({
  route: 'GET /v1/game/rounds/{round_id}',
  service,
  name: 'player.round',
  summary: "One of this player's rounds",
  params: roundParam,
  reply: roundSchema,
})
export const playRound = defineEndpoint({
  route: 'POST /v1/game/rounds',
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
  reply: roundSchema,
  statuses: [201],
  budgetMs: walletBudgetMs,
})
export const revealTile = defineEndpoint({
  route: 'POST /v1/game/rounds/{round_id}/reveal',
  service,
  name: 'player.reveal',
  summary: 'Open a tile',
  params: roundParam,
  body: z.strictObject({ tile: z.int().min(0).max(24) }),
  reply: roundSchema,
  budgetMs: walletBudgetMs,
  neverShed: true,
})
export const cashOut = defineEndpoint({
  route: 'POST /v1/game/rounds/{round_id}/cashout',
  service,
  name: 'player.cashout',
  summary: 'Take the winnings',
  params: roundParam,
  reply: roundSchema,
  budgetMs: walletBudgetMs,
  neverShed: true,
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
  service,
  name: 'player.fairness',
  summary: 'Commitment, reveal and end of every nonce',
  query: z.strictObject({ ...pageQuery }),
  reply: pageOf(fairnessBookEntry),
})
