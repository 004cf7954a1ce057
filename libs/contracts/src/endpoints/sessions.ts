import { z } from 'zod'
import { defineEndpoint, forDashboard, everybody, ownerAndAdmin } from '../endpoint.ts'
import { gamePatchSchema, gameSchema } from '../objects/game.ts'
import {
  launchedSessionSchema,
  sessionCreateSchema,
  sessionSchema,
  sessionStatus,
} from '../objects/session.ts'
import { pageOf, pageQuery, playerId, windowQuery } from '../primitives.ts'
import { gameStates, liveSwitches } from './round-parts.ts'

/**
 * The routes of games and sessions, answered by the rounds service. Source: docs/contract.md, sections 4 and
 * 11.
 */

const slugParam = z.strictObject({ slug: z.string().max(64) })
const sessionParam = z.strictObject({ session_id: z.string().max(64) })

// Catalogue
const gamesPage = pageOf(gameSchema)
export const listGames = defineEndpoint({
  route: 'GET /v1/games',
  access: { 'operator-api': 'games:read' },
  subject: 'rounds.v1.game.list',
  summary: 'The catalogue',
  query: z.strictObject(pageQuery),
  reply: gamesPage,
})
export const getGame = defineEndpoint({
  route: 'GET /v1/games/{slug}',
  access: { 'operator-api': 'games:read' },
  subject: 'rounds.v1.game.show',
  summary: 'One game',
  params: slugParam,
  reply: gameSchema,
  notFound: 'GAME_NOT_FOUND',
})
export const patchGame = defineEndpoint({
  route: 'PATCH /v1/games/{slug}',
  access: { 'operator-api': 'games:write' },
  subject: 'rounds.v1.game.change',
  summary: 'Switch a game on or off, set stake limits',
  params: slugParam,
  body: gamePatchSchema,
  reply: gameSchema,
  errors: ['CURRENCY_NOT_SUPPORTED'],
  notFound: 'GAME_NOT_FOUND',
})
export const dashboardListGames = forDashboard(listGames, everybody)
export const dashboardPatchGame = forDashboard(patchGame, ownerAndAdmin)

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
  subject: 'rounds.v1.session.create',
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
  subject: 'rounds.v1.session.list',
  summary: 'Sessions',
  query: z.strictObject(sessionFilters),
  reply: sessionsPage,
})
export const getSession = defineEndpoint({
  route: 'GET /v1/sessions/{session_id}',
  access: { 'operator-api': 'sessions:read' },
  subject: 'rounds.v1.session.show',
  summary: 'One session',
  params: sessionParam,
  reply: sessionSchema,
  notFound: 'SESSION_NOT_FOUND',
})
export const closeSession = defineEndpoint({
  route: 'POST /v1/sessions/{session_id}/close',
  access: { 'operator-api': 'sessions:write' },
  subject: 'rounds.v1.session.close',
  summary: 'End the sitting',
  params: sessionParam,
  reply: sessionSchema,
  notFound: 'SESSION_NOT_FOUND',
})
export const dashboardListSessions = forDashboard(listSessions, everybody)
export const dashboardGetSession = forDashboard(getSession, everybody, { byId: true })
