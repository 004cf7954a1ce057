import { setTimeout as delay } from 'node:timers/promises'

/** Requests that one answer may take, and the longest wait that is obeyed. */
const triesMax = 10
const waitMaxS = 60
/** Spreads those who were refused together. */
const jitterMs = 250

/**
 * Asks, and asks again as long as the answer is 429 or 503 with `Retry-After`. The product has not begun what
 * it answers 429; what it answers 503 it may do all the same. @returns the last answer. Source:
 * docs/contract.md, section 1, "Errors".
 */
export async function askPatiently(
  ask: () => Promise<Response>,
  wait: (ms: number) => Promise<unknown> = delay,
): Promise<Response> {
  for (let tries = 1; ; tries++) {
    const response = await ask()
    const seconds = Number.parseInt(response.headers.get('retry-after') ?? '', 10)
    const isRefused = response.status === 429 || response.status === 503
    if (!isRefused || !(seconds >= 0 && seconds <= waitMaxS) || tries >= triesMax) return response
    await response.body?.cancel()
    await wait(seconds * 1000 + Math.random() * jitterMs)
  }
}
