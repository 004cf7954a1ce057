import { setTimeout as delay } from 'node:timers/promises'

export type WaitOptions = {
  /**
   * Deadline on the reference machine; a minute by default. A machine that `npm test` measured as slower has
   * as many times longer.
   */
  timeoutMs?: number
  /** Name of the awaited condition, for the message. */
  what?: string
  /** Pause between two looks; by default a twentieth of the time waited so far, 5 to 100 ms. */
  everyMs?: number | undefined
}

/** How many times slower than the reference this machine is, as the test runner has measured it. */
const slowness = Number(process.env.PITBOSS_TEST_SLOWNESS ?? '1')

/**
 * Waits until `condition` gives a value other than false, null and undefined, and gives that. A condition
 * that throws counts as not met; its error is the cause of the time-out's.
 * @throws Error that names the condition, when the deadline passes.
 */
export async function waitFor<T>(
  condition: () => Promise<T> | T,
  { timeoutMs = 60_000, what = 'the condition', everyMs }: WaitOptions = {},
): Promise<Exclude<T, false | null | undefined>> {
  const limitMs = timeoutMs * slowness
  const startedAt = performance.now()
  const deadline = startedAt + limitMs
  let cause: unknown
  for (;;) {
    try {
      const met = await condition()
      if (isMet(met)) return met
      cause = undefined
    } catch (error) {
      cause = error
    }
    if (performance.now() > deadline)
      throw new Error(`${what}: not within ${limitMs.toFixed(0)} ms`, { cause })
    const waitedMs = performance.now() - startedAt
    await delay(everyMs ?? Math.min(100, Math.max(5, waitedMs / 20)))
  }
}

function isMet<T>(value: T): value is Exclude<T, false | null | undefined> {
  return value !== false && value !== null && value !== undefined
}
