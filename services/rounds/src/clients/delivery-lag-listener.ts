import { latenessSchema, latenessStandsMs, latenessSubject } from '@pitboss/contracts/lateness'
import type { Bus } from '@pitboss/bus/connect-bus'

type Reading = {
  readonly atMs: number
  readonly recordingMs: number
  readonly accounts: ReadonlyMap<string, number>
}

/** Shorter lateness ends by itself. Source: docs/contract.md, section 7. */
const lastsMs = 5000
/** The name under which the lateness of recording counts, which is that of every account. */
const allAccounts = ''

/** Follows how late deliveries are. @param options.fromMs has to last before it counts; `nowMs` is monotonic */
export function listenToDeliveryLag(
  bus: Pick<Bus, 'subscribe'>,
  { fromMs, nowMs = () => performance.now() }: { fromMs: number; nowMs?: () => number },
) {
  const readings = new Map<string, Reading>()
  /** Since when an account is later than `fromMs`. */
  const since = new Map<string, number>()
  const decoder = new TextDecoder()
  const { unsubscribe } = bus.subscribe(latenessSubject, ({ data }) => {
    const { by, recording_ms, accounts } = latenessSchema.parse(JSON.parse(decoder.decode(data)))
    forgetOld()
    readings.set(by, {
      ...{ atMs: nowMs(), recordingMs: recording_ms },
      accounts: new Map(accounts.map(({ account, late_ms }) => [account, late_ms])),
    })
    for (const account of [allAccounts, ...[...readings.values()].flatMap((one) => [...one.accounts.keys()])])
      if (lateOf(account) > fromMs && !since.has(account))
        since.set(account, since.get(allAccounts) ?? nowMs())
  })

  function lateOf(account: string): number {
    const all = [...readings.values()]
    const recording = Math.max(0, ...all.map(({ recordingMs }) => recordingMs))
    return recording + Math.max(0, ...all.map(({ accounts }) => accounts.get(account) ?? 0))
  }

  function forgetOld(): void {
    for (const [by, { atMs }] of readings) if (nowMs() - atMs > latenessStandsMs) readings.delete(by)
    for (const account of since.keys()) if (lateOf(account) <= fromMs) since.delete(account)
  }

  return {
    of(account: string): number {
      forgetOld()
      const lateSince = since.get(account) ?? since.get(allAccounts)
      return lateSince === undefined || nowMs() - lateSince < lastsMs ? 0 : lateOf(account)
    },
    stop: unsubscribe,
  }
}
