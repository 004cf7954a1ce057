import { z } from 'zod'
import { amount, currency, uuid } from '../primitives.ts'

export const gameStatus = z.enum(['AVAILABLE', 'DOWN'])

/** A game as an operator sees it. Source: docs/contract.md, section 4. */
export const gameSchema = z.strictObject({
  slug: z.string(),
  game_id: uuid,
  name: z.string(),
  enabled: z.boolean(),
  status: gameStatus,
  rtp: z.string(),
  limits: z.array(z.strictObject({ currency, min_stake: amount, max_stake: amount, max_payout: amount })),
  bet_schema: z.record(z.string(), z.unknown()),
})
export type Game = z.infer<typeof gameSchema>

/** Body of `PATCH {slug}`. Source: docs/contract.md, section 3. */
export const gamePatchSchema = z.strictObject({
  enabled: z.boolean().optional(),
  limits: z
    .array(z.strictObject({ currency, min_stake: amount, max_stake: amount }))
    .max(200)
    .optional(),
})
