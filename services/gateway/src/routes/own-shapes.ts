import { z } from 'zod'

/**
 * Bodies and replies of the routes that no service answers. Source: docs/contract.md, sections 4, 7 and 11.
 */

export const eventTypesReply = z.strictObject({
  data: z.array(
    z.strictObject({
      type: z.string(),
      description: z.string(),
      schema: z.record(z.string(), z.unknown()),
      example: z.record(z.string(), z.unknown()),
    }),
  ),
})

/**
 * A round, the data of a `round.completed` event or its envelope; a missing field shows as a failed check.
 */
export const verifyBody = z.record(z.string(), z.unknown())
export const verifyReply = z.strictObject({
  valid: z.boolean(),
  checks: z.array(
    z.strictObject({ name: z.string(), ok: z.boolean(), expected: z.string(), actual: z.string() }),
  ),
})

export const callbackReply = z.strictObject({ status: z.literal('accepted') })
export const healthReply = z.strictObject({ status: z.string() })
