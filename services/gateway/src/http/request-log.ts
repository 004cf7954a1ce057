import type { Bus } from '@pitboss/bus/connect-bus'
import { appendRequestLog } from '@pitboss/contracts/calls/auth'
import type { Logger } from 'pino'
import type { z } from 'zod'

const rowsPerCallMax = 500
const queuedMax = 10_000
const flushEveryMs = 500
const retryMs = 2000

type Row = z.infer<typeof appendRequestLog.request>['rows'][number]

export type RequestLog = {
  /** Queues a row; never waits. When the queue is full the oldest rows are dropped and counted. */
  add(row: Row): void
  /** Writes the queue once more. */
  stop(): Promise<void>
}

/**
 * Creates the operators' request log. It writes batches after the answers, one at a time. Source:
 * docs/contract.md, section 3.
 */
export function createRequestLog({ bus, logger }: { bus: Bus; logger: Logger }): RequestLog {
  let queue: Row[] = []
  let dropped = 0
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
    while (queue.length > 0) {
      const rows = queue.slice(0, rowsPerCallMax)
      queue = queue.slice(rowsPerCallMax)
      try {
        await bus.call(appendRequestLog, { rows })
      } catch (err) {
        queue = [...rows, ...queue]
        trim()
        logger.warn({ err, queued: queue.length, dropped }, 'request-log.not-written')
        schedule(retryMs)
        return
      }
    }
    if (dropped > 0) logger.warn({ dropped }, 'request-log.dropped')
    dropped = 0
  }

  function trim(): void {
    if (queue.length <= queuedMax) return
    dropped += queue.length - queuedMax
    queue = queue.slice(-queuedMax)
  }

  return {
    add(row) {
      queue.push(row)
      if (queue.length > queuedMax * 1.1) trim()
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
