import { latenessSchema, latenessStandsMs, latenessSubject } from '@pitboss/contracts/lateness'
import type { Bus } from '@pitboss/bus/connect-bus'

type Heard = {
  readonly atMs: number
  readonly recordingMs: number
  readonly accounts: ReadonlyMap<string, number>
}

/** How late deliveries are, as the replicas of webhooks tell it. */
export type HeardLateness = {
  /**
   * By how many milliseconds an account's new events would reach its receivers late; 0 when nobody says so.
   */
  of(account: string): number
  stop(): void
}

/**
 * Hears how late deliveries are. What is a second old is over: without webhooks nobody is late.
 * @param nowMs a monotonic clock
 */
export function hearLateness(
  bus: Pick<Bus, 'subscribe'>,
  nowMs: () => number = () => performance.now(),
): HeardLateness {
  const heard = new Map<string, Heard>()
  const decoder = new TextDecoder()
  const { unsubscribe } = bus.subscribe(latenessSubject, ({ data }) => {
    const { by, recording_ms, accounts } = latenessSchema.parse(JSON.parse(decoder.decode(data)))
    dropOld()
    heard.set(by, {
      ...{ atMs: nowMs(), recordingMs: recording_ms },
      accounts: new Map(accounts.map(({ account, late_ms }) => [account, late_ms])),
    })
  })

  function dropOld(): void {
    for (const [by, { atMs }] of heard) if (nowMs() - atMs > latenessStandsMs) heard.delete(by)
  }

  return {
    of(account) {
      dropOld()
      const all = [...heard.values()]
      const recording = Math.max(0, ...all.map(({ recordingMs }) => recordingMs))
      return recording + Math.max(0, ...all.map(({ accounts }) => accounts.get(account) ?? 0))
    },
    stop: unsubscribe,
  }
}
