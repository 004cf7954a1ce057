import { z } from 'zod'
import { acknowledgedChangeMs } from '../call.ts'
import { defineEndpoint, forDashboard, everybody, ownerAndAdmin, sessionClosers } from '../endpoint.ts'
import { gamePatchSchema, gameSchema } from '../objects/game.ts'
import { sessionCreateSchema, sessionSchema, sessionStatus } from '../objects/session.ts'
import { pageOf, pageQuery, playerId, windowQuery } from '../primitives.ts'

/** Routes of games and sessions, which rounds answers. Source: docs/contract.md, sections 4 and 11. */

const slugParam = z.strictObject({ slug: z.string().max(64) })
const sessionParam = z.strictObject({ session_id: z.string().max(64) })

// Catalogue
const gamesPage = pageOf(gameSchema)
export const listGames = defineEndpoint('GET /v1/games', {
  access: { 'operator-api': 'games:read' },
  subject: 'rounds.v1.game.list',
  query: z.strictObject(pageQuery),
  reply: gamesPage,
})
export const getGame = defineEndpoint('GET /v1/games/{slug}', {
  access: { 'operator-api': 'games:read' },
  subject: 'rounds.v1.game.show',
  params: slugParam,
  reply: gameSchema,
})
export const patchGame = defineEndpoint('PATCH /v1/games/{slug}', {
  access: { 'operator-api': 'games:write' },
  subject: 'rounds.v1.game.change',
  params: slugParam,
  body: gamePatchSchema,
  reply: gameSchema,
  budgetMs: acknowledgedChangeMs,
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
export const createSession = defineEndpoint('POST /v1/sessions', {
  access: { 'operator-api': 'sessions:write' },
  subject: 'rounds.v1.session.create',
  body: sessionCreateSchema,
  reply: sessionSchema,
})
export const listSessions = defineEndpoint('GET /v1/sessions', {
  access: { 'operator-api': 'sessions:read' },
  subject: 'rounds.v1.session.list',
  query: z.strictObject(sessionFilters),
  reply: sessionsPage,
})
export const getSession = defineEndpoint('GET /v1/sessions/{session_id}', {
  access: { 'operator-api': 'sessions:read' },
  subject: 'rounds.v1.session.show',
  params: sessionParam,
  reply: sessionSchema,
})
export const closeSession = defineEndpoint('POST /v1/sessions/{session_id}/close', {
  access: { 'operator-api': 'sessions:write' },
  subject: 'rounds.v1.session.close',
  params: sessionParam,
  reply: sessionSchema,
})
export const dashboardListSessions = forDashboard(listSessions, everybody)
export const dashboardGetSession = forDashboard(getSession, everybody)
export const dashboardCloseSession = forDashboard(closeSession, sessionClosers)
