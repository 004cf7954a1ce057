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
  const deadlineMs = performance.now() + withinMs
  while (performance.now() < deadlineMs) {
    const value = await attempt()
    if (value !== null) return value
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new DemoError(`${what} did not come within ${withinMs / 1000} s`)
}

export const anything = z.unknown()
