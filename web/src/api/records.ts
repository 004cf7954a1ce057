import * as z from 'zod/mini'

// Compiled validators need `eval`, which the pages' content security policy forbids.
z.config({ jitless: true })

/**
 * Shapes that the pages read of the service's answers. Fields that they do not know are kept: a round is
 * verified as a whole.
 */

export const roundSchema = z.looseObject({
  round_id: z.string(),
  game: z.string(),
  status: z.enum(['PENDING', 'OPEN', 'SETTLING', 'SETTLED', 'VOIDED', 'FAILED']),
  stake: z.string(),
  payout: z.nullable(z.string()),
  currency: z.string(),
  free_bet: z.boolean(),
  bet: z.nullable(z.record(z.string(), z.unknown())),
  multiplier: z.nullable(z.string()),
  outcome: z.nullable(z.record(z.string(), z.unknown())),
  progress: z.nullish(
    z.looseObject({ tiles_opened: z.array(z.int()), next_multiplier: z.nullable(z.string()) }),
  ),
  fairness: z.looseObject({
    server_seed_hash: z.string(),
    client_seed: z.nullable(z.string()),
    nonce: z.int(),
    server_seed: z.nullable(z.string()),
  }),
  created_at: z.string(),
  end_reason: z.nullable(z.string()),
})
export type Round = z.infer<typeof roundSchema>

export const roundsPageSchema = z.object({
  data: z.array(roundSchema),
  next_cursor: z.nullable(z.string()),
})

const limitsSchema = z.object({
  currency: z.string(),
  min_stake: z.string(),
  max_stake: z.string(),
  max_payout: z.string(),
})

export const sittingSchema = z.object({
  session: z.object({
    session_id: z.string(),
    status: z.enum(['ACTIVE', 'EXPIRED', 'CLOSED']),
    game: z.string(),
    currency: z.string(),
    environment: z.enum(['SANDBOX', 'LIVE']),
    return_url: z.nullable(z.string()),
    limits: z.nullish(z.object({ min_stake: z.nullish(z.string()), max_stake: z.nullish(z.string()) })),
    expires_at: z.string(),
  }),
  game: z.object({
    slug: z.string(),
    name: z.string(),
    enabled: z.boolean(),
    status: z.enum(['AVAILABLE', 'DOWN']),
    rtp: z.string(),
    limits: z.array(limitsSchema),
  }),
  balance: z.nullable(z.object({ amount: z.string(), currency: z.string() })),
  open_round: z.nullable(roundSchema),
  next_round: z.object({ server_seed_hash: z.string(), nonce: z.int() }),
  free_bets: z.array(
    z.object({
      grant_id: z.string(),
      remaining: z.int(),
      stake: z.string(),
      expires_at: z.nullable(z.string()),
    }),
  ),
  protection: z.optional(
    z.object({
      elapsed_s: z.int(),
      net_spend: z.object({ amount: z.string(), currency: z.string() }),
      reality_check: z.nullable(z.object({ due_in_s: z.int() })),
    }),
  ),
})
/** `GET /v1/game/session`: who plays what, with what, under which next commitment. */
export type Sitting = z.infer<typeof sittingSchema>

export const checkedSessionSchema = z.looseObject({ session_id: z.string() })

export const errorSchema = z.object({
  code: z.string(),
  message: z.string(),
  retryable: z.boolean(),
  request_id: z.string(),
  details: z.nullish(z.array(z.object({ path: z.string(), message: z.string() }))),
  resource: z.nullish(z.looseObject({ round_id: z.nullish(z.string()) })),
})

export const receiptSchema = z.looseObject({ hash: z.string() })
