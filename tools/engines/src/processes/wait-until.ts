import { setTimeout as delay } from 'node:timers/promises'

/**
 * Asks again and again until the answer is not null.
 * @returns the answer, or null when `timeoutMs` have passed.
 */
export async function waitUntil<T>(
  ask: () => Promise<T | null> | T | null,
  {
    timeoutMs,
    everyMs = 10,
    signal,
  }: { timeoutMs: number; everyMs?: number; signal?: AbortSignal | undefined },
): Promise<T | null> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const answer = await ask()
    if (answer !== null) return answer
    if (performance.now() > deadline || signal?.aborted) return null
    await delay(everyMs)
  }
}
