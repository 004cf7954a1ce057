import type { Bus } from '@pitboss/bus/connect-bus'
import { appendRequestLog } from '@pitboss/contracts/calls/auth'
import { toEventEnvironment } from '@pitboss/contracts/primitives'
import type { Logger } from 'pino'
import type { Attribution } from './inbound.ts'

const rowsPerCallMax = 500
const queuedMax = 10_000
const flushEveryMs = 500
const retryMs = 2000
const pathCharactersMax = 512

type LoggedRequest = {
  readonly attribution: Attribution
  readonly requestId: string
  readonly at: Date
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly status: number
  readonly code: string | null
  readonly latencyMs: number
  readonly clientAddress: string
}

export type RequestLog = {
  /** Queues a row; never waits. When the queue is full the oldest rows are dropped and counted. */
  add(request: LoggedRequest): void
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
    add(request) {
      queue.push(toRow(request))
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

type Row = ReturnType<typeof toRow>

function toRow(request: LoggedRequest) {
  const { attribution, requestId, at, method, path, status, code, latencyMs, clientAddress } = request
  return {
    operatorId: attribution.operatorId,
    environment: toEventEnvironment(attribution.mode),
    request_id: requestId,
    at: at.toISOString(),
    method,
    path: path.slice(0, pathCharactersMax),
    status,
    code,
    latency_ms: Math.round(latencyMs),
    api_key: attribution.apiKey,
    client_address: clientAddress,
  }
}
