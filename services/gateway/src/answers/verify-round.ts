import { invalidField } from '@pitboss/errors/service-error'
import { readRound } from '@pitboss/fairness/read-round'
import { verifyRound as verify } from '@pitboss/fairness/verify-round'
import type { Handler } from '../http/inbound.ts'
import { z } from 'zod'

/**
 * A round, the data of a `round.completed` event or its envelope; a missing field shows as a failed check.
 */
export const verifyBody = z.record(z.string(), z.unknown())
/** Source: docs/contract.md, section 4. */
export const verifyReply = z.strictObject({
  valid: z.boolean(),
  checks: z.array(
    z.strictObject({ name: z.string(), ok: z.boolean(), expected: z.string(), actual: z.string() }),
  ),
})

/** Fields of a round; a body without any of them is no round. */
const marks = ['fairness', 'round_id', 'game'] as const

/**
 * `POST /v1/public/verify`: the same code as the page and the command. A body that is no round at all is
 * refused; a round whose checks fail is an answer.
 */
export function createVerifyRound(): Handler {
  return async ({ body }) => {
    const read = readRound(body)
    if (read.ok && !marks.some((name) => read.round.has(name)))
      throw invalidField('fairness', 'is missing: neither a round nor a round.completed event')
    return { status: 200, json: verify(body) }
  }
}
