import { setTimeout as delay } from 'node:timers/promises'
import { StackError } from './stack-error.ts'

const everyMs = 50

/**
 * Tries `attempt` until it gives a value other than null.
 * @throws StackError naming the awaited condition after `timeoutMs`.
 */
export async function waitUntil<Value>({
  what,
  timeoutMs,
  attempt,
  signal,
}: {
  what: string
  timeoutMs: number
  attempt: () => Promise<Value | null>
  signal: AbortSignal
}): Promise<Value> {
  const deadlineMs = performance.now() + timeoutMs
  let lastError: unknown
  while (performance.now() < deadlineMs) {
    signal.throwIfAborted()
    try {
      const value = await attempt()
      if (value !== null) return value
    } catch (error) {
      lastError = error
    }
    await delay(everyMs, undefined, { signal })
  }
  throw new StackError(`${what} did not happen within ${timeoutMs / 1000} s; the lines above say why.`, {
    cause: lastError,
  })
}
