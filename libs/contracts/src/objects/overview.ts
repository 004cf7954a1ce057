import { z } from 'zod'
import { eventEnvironment, webhookId } from '../primitives.ts'
import { reportSchema } from './report.ts'

/** The first page of the dashboard. Source: docs/contract.md, section 3, "Overview". */

/** The number at which counts of an overview stop. */
export const countedMax = 1000

const count = z.int().min(0).max(countedMax)

/** How an environment's wallet stands. */
export const walletHealthSchema = z.strictObject({
  configured: z.boolean(),
  /** New stakes are held back because the wallet has stopped answering. */
  breaker_open: z.boolean(),
  unresolved: count,
  oldest_unresolved: z.strictObject({ transaction_id: z.string(), created_at: z.string() }).nullable(),
})

/** How the deliveries of an environment stand; `failed` are those that ended within the last 24 hours. */
export const deliveryHealthSchema = z.strictObject({
  pending: count,
  oldest_pending_at: z.string().nullable(),
  held: count,
  failed: count,
  endpoints: count,
  paused: z.array(webhookId),
  failing: z.array(webhookId),
  ever_delivered: z.boolean(),
})

/** A part is null when its service did not answer; a step is null where the role may not read its fact. */
export const overviewSchema = z.strictObject({
  environment: eventEnvironment,
  from: z.string(),
  to: z.string(),
  play: reportSchema.shape.data.nullable(),
  wallet: walletHealthSchema.nullable(),
  deliveries: deliveryHealthSchema.nullable(),
  steps: z.strictObject({
    key: z.boolean().nullable(),
    wallet: z.boolean().nullable(),
    endpoint: z.boolean().nullable(),
    delivery: z.boolean().nullable(),
    round: z.boolean().nullable(),
  }),
})
