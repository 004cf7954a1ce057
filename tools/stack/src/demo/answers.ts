import { waitUntil } from '@pitboss/engines/processes/wait-until'
import { z } from 'zod'
import { exchange } from '../exchange.ts'

/** Reason why the tour stopped: the step and its expectation. */
export class DemoError extends Error {}

/** As `exchange`, for an answer that must have `status` and the shape of `schema`. @throws DemoError */
export async function expectAnswer<Body>(
  status: number,
  schema: z.ZodType<Body>,
  method: string,
  url: string,
  options: { token?: string; body?: unknown } = {},
): Promise<Body> {
  const answer = await exchange(method, url, options)
  if (answer.status !== status)
    throw new DemoError(
      `${method} ${new URL(url).pathname} answered ${answer.status}, expected ${status}: ${JSON.stringify(answer.body)}`,
    )
  return schema.parse(answer.body)
}

/** Polls until `attempt` gives a value other than null. @throws DemoError naming what did not come. */
export async function eventually<Value>(
  what: string,
  attempt: () => Promise<Value | null>,
  withinMs = 30_000,
): Promise<Value> {
  const value = await waitUntil(attempt, { timeoutMs: withinMs, everyMs: 100 })
  if (value === null) throw new DemoError(`${what} did not come within ${withinMs / 1000} s`)
  return value
}

export const anything = z.unknown()

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
