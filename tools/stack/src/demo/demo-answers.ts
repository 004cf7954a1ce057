import { z } from 'zod'

/**
 * Shapes that the tour reads of answers in several chapters. Each takes the fields it shows and ignores the
 * others.
 */

export const page = <Row extends z.ZodType>(row: Row) => z.looseObject({ data: z.array(row) })

export const tokenAnswer = z.looseObject({
  access_token: z.string(),
  operator: z.looseObject({ name: z.string(), mode: z.string() }),
})

export const sessionAnswer = z.looseObject({ session_id: z.string(), launch_url: z.string() })
export type Session = z.infer<typeof sessionAnswer>

export const roundAnswer = z.looseObject({
  round_id: z.string(),
  game: z.string(),
  status: z.string(),
  stake: z.string(),
  payout: z.string().nullable(),
  currency: z.string(),
  multiplier: z.string().nullable(),
  outcome: z.record(z.string(), z.unknown()).nullable(),
  wallet_round_id: z.string(),
  fairness: z.looseObject({ server_seed_hash: z.string(), nonce: z.number() }),
})
export type Round = z.infer<typeof roundAnswer>

export const movementAnswer = z.looseObject({
  transaction_id: z.string(),
  status: z.string(),
  type: z.string(),
  amount: z.string(),
})

export const failure = z.looseObject({
  code: z.string(),
  message: z.string(),
  retryable: z.boolean(),
  resource: z.looseObject({ round_id: z.string().optional(), transaction_id: z.string() }).optional(),
})
