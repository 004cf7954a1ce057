import { z } from 'zod'
import { opsOrder } from './auth.ts'

/**
 * What operations say and hear of the rewind of a durable consumer. The service that works the consumer serves two calls: one opens
 * the count, before the consumer is made anew; the other tells how far it is. Source: contract section 10.
 */
export const rewindStart = z.strictObject({ order: opsOrder, fromSeq: z.int(), toSeq: z.int() })
export type RewindStart = z.infer<typeof rewindStart>

export const rewindQuery = z.strictObject({ rewindId: z.string().max(64) })
export const rewindView = z.strictObject({
  rewind_id: z.string(),
  from_seq: z.int(),
  to_seq: z.int(),
  seen: z.int(),
  repaired: z.int(),
  unchanged: z.int(),
  parked: z.int(),
  done: z.boolean(),
})
export type RewindView = z.infer<typeof rewindView>
