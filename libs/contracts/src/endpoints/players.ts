import { z } from 'zod'
import { defineEndpoint, everybody, forDashboard, sessionClosers } from '../endpoint.ts'
import { limitsPutSchema, playerLimitsSchema } from '../objects/player-limits.ts'
import { stopCreateSchema, stopLiftSchema, stopSchema } from '../objects/player-stop.ts'
import { nonceSchema, playerSchema } from '../objects/player.ts'
import { accountMode, gameSlug, pageOf, pageQuery, playerId } from '../primitives.ts'

/** Routes about one player, which rounds answers. Source: docs/contract.md, sections 3 and 4. */

const nonceText = z.string().regex(/^[1-9][0-9]{0,14}$/, 'must be a whole number from 1')

const playerParam = z.strictObject({ player_id: playerId })

export const getPlayer = defineEndpoint('GET /v1/dashboard/players/{player_id}', {
  access: everybody,
  subject: 'rounds.v1.player.show-for-dashboard',
  params: playerParam,
  query: z.strictObject({ environment: accountMode.optional() }),
  reply: playerSchema,
})
export const listNonces = defineEndpoint('GET /v1/dashboard/players/{player_id}/fairness/{game}', {
  access: everybody,
  subject: 'rounds.v1.player.nonces-for-dashboard',
  params: z.strictObject({ player_id: playerId, game: gameSlug }),
  query: z
    .strictObject({
      environment: accountMode.optional(),
      from_nonce: nonceText.optional(),
      to_nonce: nonceText.optional(),
      ...pageQuery,
    })
    .refine(({ from_nonce, to_nonce }) => Number(from_nonce ?? 1) <= Number(to_nonce ?? Infinity), {
      path: ['from_nonce'],
      error: 'must not be above to_nonce',
    }),
  reply: pageOf(nonceSchema),
})

// Stops
export const stopPlayer = defineEndpoint('POST /v1/players/{player_id}/stop', {
  access: { 'operator-api': 'sessions:write' },
  subject: 'rounds.v1.player.stop',
  params: playerParam,
  body: stopCreateSchema,
  reply: stopSchema,
})
export const liftStop = defineEndpoint('POST /v1/players/{player_id}/stop/lift', {
  access: { 'operator-api': 'sessions:write' },
  subject: 'rounds.v1.player.lift-stop',
  params: playerParam,
  body: stopLiftSchema,
  reply: stopSchema,
})
export const listStops = defineEndpoint('GET /v1/players/{player_id}/stops', {
  access: { 'operator-api': 'sessions:read' },
  subject: 'rounds.v1.player.stops',
  params: playerParam,
  query: z.strictObject(pageQuery),
  reply: pageOf(stopSchema),
})
export const dashboardStopPlayer = forDashboard(stopPlayer, sessionClosers)
export const dashboardLiftStop = forDashboard(liftStop, sessionClosers)
export const dashboardListStops = forDashboard(listStops, everybody)

// Limits
export const putLimits = defineEndpoint('PUT /v1/players/{player_id}/limits', {
  access: { 'operator-api': 'sessions:write' },
  subject: 'rounds.v1.player.put-limits',
  params: playerParam,
  body: limitsPutSchema,
  reply: playerLimitsSchema,
})
export const getLimits = defineEndpoint('GET /v1/players/{player_id}/limits', {
  access: { 'operator-api': 'sessions:read' },
  subject: 'rounds.v1.player.limits',
  params: playerParam,
  reply: playerLimitsSchema,
})
export const dashboardPutLimits = forDashboard(putLimits, sessionClosers)
export const dashboardGetLimits = forDashboard(getLimits, everybody)
