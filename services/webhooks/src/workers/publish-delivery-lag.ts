import * as contract from '@pitboss/contracts/lateness'
import type { Bus } from '@pitboss/bus/connect-bus'
import type { Clock } from '@pitboss/runtime/clock'
import { startPoll } from '@pitboss/runtime/poll'
import type { Logger } from 'pino'
import type { LateEndpoint } from '../actions/run-endpoint.ts'

/** Less than this is not published: play yields from seconds on. */
const publishedFromMs = 500
/** How often it is measured while nothing is late. */
const measureEveryMs = 1000

/** Publishes how late events are, for rounds, five times a second; a second of silence means not late. */
export function startPublishingDeliveryLag(parts: {
  bus: Pick<Bus, 'publish'>
  by: string
  endpoints: (now: Date) => readonly LateEndpoint[]
  recordingMs: (now: Date) => number
  onMeasured: (worstMs: number, endpoints: readonly LateEndpoint[]) => void
  clock: Clock
  logger: Logger
}): { stop(): Promise<void> } {
  const { bus, by, endpoints, recordingMs, onMeasured, clock, logger } = parts
  let wasLate = false
  return startPoll({
    ...{ event: 'lateness.not-told', level: 'warn', everyMs: contract.tellLatenessEveryMs },
    async work() {
      const now = clock.now()
      const late = endpoints(now)
      const worst = new Map<string, number>()
      for (const { account, lateMs } of late)
        if (lateMs >= publishedFromMs) worst.set(account, Math.max(lateMs, worst.get(account) ?? 0))
      const accounts = [...worst]
        .map(([account, late_ms]) => ({ account, late_ms }))
        .toSorted((a, b) => b.late_ms - a.late_ms)
        .slice(0, contract.lateAccountsMax)
      const lateness: contract.Lateness = { by, recording_ms: recordingMs(now), accounts }
      onMeasured(lateness.recording_ms + (accounts[0]?.late_ms ?? 0), late)
      const isLate = lateness.recording_ms >= publishedFromMs || accounts.length > 0
      if (isLate || wasLate) bus.publish(contract.latenessSubject, Buffer.from(JSON.stringify(lateness)))
      wasLate = isLate
      return isLate ? undefined : measureEveryMs
    },
    logger,
  })
}
