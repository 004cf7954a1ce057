import { z } from 'zod'
import { defineEndpoint, everybody } from '../endpoint.ts'
import { nonceSchema, playerSchema } from '../objects/player.ts'
import { accountMode, gameSlug, pageOf, pageQuery, playerId } from '../primitives.ts'

/** Routes of the dashboard about one player, which rounds answers. Source: docs/contract.md, section 3. */

const nonceText = z.string().regex(/^[1-9][0-9]{0,14}$/, 'must be a whole number from 1')

export const getPlayer = defineEndpoint('GET /v1/dashboard/players/{player_id}', {
  access: everybody,
  subject: 'rounds.v1.player.show-for-dashboard',
  params: z.strictObject({ player_id: playerId }),
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
