import { latenessSchema, latenessStandsMs, latenessSubject } from '@pitboss/contracts/lateness'
import type { Bus } from '@pitboss/bus/connect-bus'

type Heard = {
  readonly atMs: number
  readonly recordingMs: number
  readonly accounts: ReadonlyMap<string, number>
}

/** Shorter lateness ends by itself. Source: docs/contract.md, section 7. */
const lastsMs = 5000
/** Stands for the accounts of which nothing is said but how late the recording of all events is. */
const everybody = ''

/**
 * Follows how late deliveries are; a report older than a second is void.
 * @param options.fromMs the lateness that has to last before it counts; `nowMs` is monotonic
 */
export function hearLateness(
  bus: Pick<Bus, 'subscribe'>,
  { fromMs, nowMs = () => performance.now() }: { fromMs: number; nowMs?: () => number },
) {
  const heard = new Map<string, Heard>()
  /** Since when an account is later than `fromMs`. */
  const since = new Map<string, number>()
  const decoder = new TextDecoder()
  const { unsubscribe } = bus.subscribe(latenessSubject, ({ data }) => {
    const { by, recording_ms, accounts } = latenessSchema.parse(JSON.parse(decoder.decode(data)))
    forgetOld()
    heard.set(by, {
      ...{ atMs: nowMs(), recordingMs: recording_ms },
      accounts: new Map(accounts.map(({ account, late_ms }) => [account, late_ms])),
    })
    for (const account of [everybody, ...[...heard.values()].flatMap((one) => [...one.accounts.keys()])])
      if (lateOf(account) > fromMs && !since.has(account)) since.set(account, since.get(everybody) ?? nowMs())
  })

  function lateOf(account: string): number {
    const all = [...heard.values()]
    const recording = Math.max(0, ...all.map(({ recordingMs }) => recordingMs))
    return recording + Math.max(0, ...all.map(({ accounts }) => accounts.get(account) ?? 0))
  }

  function forgetOld(): void {
    for (const [by, { atMs }] of heard) if (nowMs() - atMs > latenessStandsMs) heard.delete(by)
    for (const account of since.keys()) if (lateOf(account) <= fromMs) since.delete(account)
  }

  return {
    /** Milliseconds by which the account's new events are late, once that has lasted; else 0. */
    of(account: string): number {
      forgetOld()
      const lateSince = since.get(account) ?? since.get(everybody)
      return lateSince === undefined || nowMs() - lateSince < lastsMs ? 0 : lateOf(account)
    },
    stop: unsubscribe,
  }
}
