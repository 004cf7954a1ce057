import { z } from 'zod'

export const movement = z.looseObject({
  transaction_id: z.string(),
  reference: z.string(),
  type: z.enum(['BET', 'WIN', 'REFUND', 'ROLLBACK']),
  status: z.enum(['PENDING', 'SUCCESS', 'FAILED', 'REFUNDED', 'ROLLED_BACK']),
  amount: z.string(),
  currency: z.string(),
  player_id: z.string(),
  round_id: z.string(),
  free_bet: z.boolean(),
  reference_transaction_id: z.string().nullable(),
  wallet_code: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type Movement = z.infer<typeof movement>

export const round = z.looseObject({
  round_id: z.string(),
  player_id: z.string(),
  game: z.string(),
  status: z.string(),
  stake: z.string(),
  payout: z.string().nullable(),
  currency: z.string(),
  free_bet: z.boolean(),
  driver: z.string(),
  wallet_round_id: z.string(),
  fairness: z.looseObject({ nonce: z.number(), server_seed: z.string().nullable() }),
  created_at: z.string(),
  completed_at: z.string().nullable(),
  end_reason: z.string().nullable(),
  /** Of the page's request; of an operator's round known to a simulation alone. */
  client_transaction_id: z.string().nullish(),
})
export type Round = z.infer<typeof round>

export const event = z.looseObject({
  id: z.string(),
  type: z.string(),
  created_at: z.string(),
  environment: z.string(),
  data: z.record(z.string(), z.unknown()),
})
export type Event = z.infer<typeof event>

export const delivery = z.looseObject({
  delivery_id: z.string(),
  webhook_id: z.string(),
  event_id: z.string(),
  status: z.string(),
  attempt_count: z.number(),
  next_attempt_at: z.string().nullable(),
  created_at: z.string(),
})
export type Delivery = z.infer<typeof delivery>

export const deliveryDetail = delivery.extend({
  attempts: z.array(z.looseObject({ sent_at: z.string(), duration_ms: z.number().nullable() })),
})
export type DeliveryDetail = z.infer<typeof deliveryDetail>

export const attempts = z.object({
  data: z.array(
    z.looseObject({
      attempt: z.number(),
      sent_at: z.string(),
      latency_ms: z.number().nullable(),
      classification: z.string(),
      request: z.unknown(),
      next_attempt_at: z.string().nullable(),
    }),
  ),
})
export type Attempt = z.infer<typeof attempts>['data'][number]

export const ledgerEntry = z.looseObject({
  seq: z.number(),
  at: z.string(),
  operation: z.string(),
  transaction_id: z.string().nullable(),
  reference: z.string().nullish(),
  reference_transaction_id: z.string().nullable(),
  round_id: z.string().nullable(),
  player_id: z.string(),
  currency: z.string(),
  amount: z.string(),
  effect: z.string(),
  status: z.string(),
})
export type LedgerEntry = z.infer<typeof ledgerEntry>

const walletCall = z.looseObject({
  seq: z.number(),
  at: z.string(),
  operation: z.string(),
  transaction_id: z.string().nullable(),
  duration_ms: z.number(),
  body: z.string(),
})
export type WalletCall = z.infer<typeof walletCall>

export const received = z.looseObject({
  seq: z.number(),
  verified: z.boolean(),
  reason: z.string().nullable(),
  event_id: z.string().nullable(),
  attempt: z.number().nullable(),
  answered_status: z.number().nullable(),
  raw_body: z.string(),
})
export type Received = z.infer<typeof received>

export const grant = z.looseObject({
  grant_id: z.string(),
  player_id: z.string(),
  game: z.string(),
  count: z.number(),
  remaining: z.number(),
  /** The rounds that took one; known to a simulation alone. */
  uses: z.array(z.string()).optional(),
  /** When it ends; known to a simulation alone. */
  ends_at: z.string().optional(),
})
export type Grant = z.infer<typeof grant>

export const reportRow = z.looseObject({
  day: z.string(),
  currency: z.string(),
  rounds: z.number(),
  stakes: z.string(),
  payouts: z.string(),
  refunds: z.string(),
  adjustments: z.string().optional(),
  ggr: z.string(),
  restated_at: z.string().nullable().optional(),
})
export type ReportRow = z.infer<typeof reportRow>
