import type { Bus } from '@pitboss/bus/connect-bus'
import { appendRequestLog } from '@pitboss/contracts/calls/auth'
import type { Logger } from 'pino'
import type { z } from 'zod'
import { createRateCounter } from '../limits/rate-counter.ts'

const rowsPerCallMax = 500
/** Rows of one account in a call before it is the next account's turn. */
const rowsPerTurnMax = 50
const queuedMax = 10_000
const queuedPerAccountMax = 2500
const trimEvery = 100
const flushEveryMs = 500
const retryMs = 2000

/** Refusals of one key that are logged in any minute; the others are counted alone. Ours. */
const refusalsLogged = { kind: 'window', count: 30, windowMs: 60_000 } as const
const refusalCodes: ReadonlySet<string | null> = new Set([
  'INVALID_CREDENTIALS',
  'TOKEN_EXPIRED',
  'IP_NOT_ALLOWED',
  'INSUFFICIENT_SCOPE',
  'OPERATOR_SUSPENDED',
  'FORBIDDEN',
  'RATE_LIMITED',
  'SERVICE_UNAVAILABLE',
])

type Row = z.infer<typeof appendRequestLog.request>['rows'][number]

export type RequestLog = {
  /**
   * Queues a row; never waits. Of a full queue the oldest rows of the account with the most rows are dropped,
   * and counted.
   */
  add(row: Row): void
  /** Writes the queue once more. */
  stop(): Promise<void>
}

/**
 * Creates the operators' request log. It writes batches after the answers, one at a time, the accounts in
 * turns. Source: docs/contract.md, section 3.
 */
export function createRequestLog({ bus, logger }: { bus: Pick<Bus, 'call'>; logger: Logger }): RequestLog {
  /** Rows by account, oldest first; the account whose turn is next comes first. */
  const queues = new Map<string, Row[]>()
  const refusals = createRateCounter(refusalsLogged)
  let added = 0
  let dropped = 0
  let refusalsLeftOut = 0
  let writing: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | null = null
  let stopped = false

  function schedule(delayMs: number): void {
    if (timer !== null || stopped) return
    timer = setTimeout(() => {
      timer = null
      writing = writing.then(flush)
    }, delayMs)
  }

  async function flush(): Promise<void> {
    for (let rows = takeBatch(); rows.length > 0; rows = takeBatch()) {
      try {
        await bus.call(appendRequestLog, { rows })
      } catch (err) {
        putBack(rows)
        logger.warn({ err, queued: queued(), dropped }, 'request-log.not-written')
        schedule(retryMs)
        return
      }
    }
    if (dropped > 0) logger.warn({ dropped }, 'request-log.dropped')
    if (refusalsLeftOut > 0) logger.info({ left_out: refusalsLeftOut }, 'request-log.refusals-left-out')
    dropped = 0
    refusalsLeftOut = 0
  }

  function takeBatch(): Row[] {
    const batch: Row[] = []
    for (const [account, rows] of queues) {
      batch.push(...rows.splice(0, Math.min(rowsPerTurnMax, rowsPerCallMax - batch.length)))
      queues.delete(account)
      if (rows.length > 0) queues.set(account, rows)
      if (batch.length === rowsPerCallMax) break
    }
    return batch
  }

  function putBack(rows: readonly Row[]): void {
    for (const [account, first] of Map.groupBy(rows, ({ operatorId }) => operatorId)) {
      queues.set(account, [...first, ...(queues.get(account) ?? [])])
    }
    trim()
  }

  const queued = () => [...queues.values()].reduce((sum, { length }) => sum + length, 0)

  /** Drops the oldest rows of accounts that have more than their part, the noisiest first. */
  function trim(): void {
    for (const rows of queues.values()) drop(rows, rows.length - queuedPerAccountMax)
    for (let excess = queued() - queuedMax; excess > 0; excess = queued() - queuedMax) {
      const [most = [], next = []] = [...queues.values()].toSorted((a, b) => b.length - a.length)
      drop(most, Math.min(excess, Math.max(rowsPerTurnMax, most.length - next.length)))
    }
  }

  function drop(rows: Row[], count: number): void {
    if (count > 0) dropped += rows.splice(0, count).length
  }

  return {
    add(row) {
      const isLeftOut = refusalCodes.has(row.code) && !refusals.take(keyOf(row), performance.now()).allowed
      if (isLeftOut) refusalsLeftOut += 1
      else {
        const rows = queues.get(row.operatorId) ?? []
        rows.push(row)
        queues.set(row.operatorId, rows)
        // Now and then alone, since it looks at every account.
        added += 1
        if (added % trimEvery === 0) trim()
      }
      schedule(flushEveryMs)
    },
    async stop() {
      stopped = true
      if (timer !== null) clearTimeout(timer)
      await writing
      await flush()
    },
  }
}

function keyOf({ operatorId, api_key }: Row): string {
  return `${operatorId} ${api_key}`
}
