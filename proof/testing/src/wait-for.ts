import { setTimeout as delay } from 'node:timers/promises'

export type WaitOptions = {
  /**
   * Deadline; 20 s unless told: on a busy machine everything takes longer, and a met condition ends the wait
   * at once.
   */
  timeoutMs?: number
  /** Name of the awaited condition, for the message. */
  what?: string
  /** Pause between two looks; 10 ms unless told. */
  everyMs?: number
}

/**
 * Waits until `condition` gives a value other than false, null and undefined, and gives that. A condition
 * that throws counts as not met; its error is the cause of the time-out's.
 * @throws Error that names the condition, when the deadline passes.
 */
export async function waitFor<T>(
  condition: () => Promise<T> | T,
  { timeoutMs = 20_000, what = 'the condition', everyMs = 10 }: WaitOptions = {},
): Promise<Exclude<T, false | null | undefined>> {
  const deadline = performance.now() + timeoutMs
  let cause: unknown
  for (;;) {
    try {
      const met = await condition()
      if (isMet(met)) return met
      cause = undefined
    } catch (error) {
      cause = error
    }
    if (performance.now() > deadline) throw new Error(`${what}: not within ${timeoutMs} ms`, { cause })
    await delay(everyMs)
  }
}

function isMet<T>(value: T): value is Exclude<T, false | null | undefined> {
  return value !== false && value !== null && value !== undefined
}
