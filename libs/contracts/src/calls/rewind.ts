import { z } from 'zod'
import { defineCall } from '../call.ts'
import { opsOrder } from './auth-ops.ts'

const rewindStart = z.strictObject({ order: opsOrder, fromSeq: z.int(), toSeq: z.int() })
export type RewindStart = z.infer<typeof rewindStart>

const rewindQuery = z.strictObject({ rewindId: z.string().max(64) })
const rewindView = z.strictObject({
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

/**
 * Defines the two calls for the rewind of a durable consumer, which the consumer's service serves: `start`
 * opens the count before the consumer is made anew, `show` tells the progress. Source: docs/contract.md,
 * section 10.
 */
export function defineRewindCalls(service: string) {
  return {
    start: defineCall(`${service}.v1.ops.rewind-start`, {
      request: rewindStart,
      reply: rewindView,
    }),
    show: defineCall(`${service}.v1.ops.rewind-show`, {
      request: rewindQuery,
      reply: rewindView,
    }),
  }
}
