import { z } from 'zod'

/** What the floor's gateway takes and passes on. */
export const floorPlay = z.object({
  player: z.string(),
  stake: z.string().regex(/^\d+\.\d\d$/),
  bet: z.object({ target: z.string(), direction: z.enum(['over', 'under']) }),
  client_seed: z.string(),
})
export type FloorPlay = z.infer<typeof floorPlay>

/** What its player gets. */
export const floorPlayed = z.object({
  round_id: z.string(),
  status: z.literal('SETTLED'),
  payout: z.string(),
  outcome: z.object({ roll: z.string() }),
  nonce: z.number(),
  server_seed_hash: z.string(),
  server_seed: z.string(),
  stake: z.string(),
  currency: z.string(),
})
export type FloorPlayed = z.infer<typeof floorPlayed>

export const playSubject = 'floor.play'
export const eventSubject = 'floor.events'
export const eventStream = 'FLOOR'

/** One message of the stream: the events of several rounds. */
export const eventBatch = z.array(
  z.looseObject({ id: z.string(), type: z.string(), data: z.looseObject({ round_id: z.string() }) }),
)
