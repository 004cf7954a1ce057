import { createExtraLateness } from '../rules/lateness.ts'

export type FanoutLateness = ReturnType<typeof createFanoutLateness>

/** Follows the fan-out. What was there before this process, and what a rewind brings, does not count. */
export function createFanoutLateness() {
  const extra = createExtraLateness()
  /** When the event in the middle of the newest batch was made, as long as it or more is to be recorded. */
  let at: Date | null = null

  function caughtUp(): void {
    at = null
    extra.of(0)
  }

  return {
    /** @param createdAt of each event in the stream's order; some may be old ones that were sent again */
    began(createdAt: readonly Date[]): void {
      at = createdAt[createdAt.length >> 1] ?? at
    },
    /** @param more whether the stream had more for the consumer when it gave the last one */
    ended(more: boolean): void {
      if (!more) caughtUp()
    },
    /** The consumer is another process's: a batch that failed here is recorded there. */
    left: caughtUp,
    forgive: extra.forgive,
    lateMs: (now: Date): number => extra.of(at === null ? 0 : Math.max(0, now.getTime() - at.getTime())),
  }
}
