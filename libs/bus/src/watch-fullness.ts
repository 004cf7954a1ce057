import { JetStreamApiError } from '@nats-io/jetstream'
import type { Bus } from './connect-bus.ts'

/** The server's refusals of a publish for want of room: the stream's, the account's, its own. */
const noRoomCodes: readonly number[] = [10_077, 10_002, 10_023]

/**
 * How long a refusal counts. A sweeper repeats what was refused every second, so it counts anew as long as an
 * event waits; without one nothing would ever tell that there is room again.
 */
const refusalCountsMs = 5000

type Publisher = Pick<Bus, 'publishEvent' | 'connected'>

/** Whether the server refused a publish because there is no room for it. */
export function isFull(error: unknown): boolean {
  return error instanceof JetStreamApiError && noRoomCodes.includes(error.code)
}

/**
 * The same publisher, and whether the stream has no room: from the first event that it refuses for that until
 * it takes one, or until none was refused for five seconds.
 * @param nowMs a monotonic clock
 */
export function watchFullness(
  bus: Publisher,
  nowMs: () => number = () => performance.now(),
): { readonly publisher: Publisher; isFull(): boolean } {
  let fullUntilMs = Number.NEGATIVE_INFINITY
  return {
    publisher: {
      connected: () => bus.connected(),
      async publishEvent(event) {
        try {
          const stored = await bus.publishEvent(event)
          fullUntilMs = Number.NEGATIVE_INFINITY
          return stored
        } catch (error) {
          if (isFull(error)) fullUntilMs = nowMs() + refusalCountsMs
          throw error
        }
      },
    },
    isFull: () => nowMs() < fullUntilMs,
  }
}
