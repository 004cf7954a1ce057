import { type Msg, type NatsConnection, nanos, nuid } from 'nats'
import type { Logger } from 'pino'
import { readQuestion } from './watch-callees.ts'
import { encodeJson, isAnswerable } from './wire.ts'

/** The counts of one endpoint since the start of its process. */
export class EndpointStats {
  readonly subject: string
  readonly queueGroup: string
  requests = 0
  errors = 0
  lastError = ''
  busyMs = 0

  constructor(subject: string, queueGroup: string) {
    this.subject = subject
    this.queueGroup = queueGroup
  }

  /** Counts one answered call; `errorCode` is null when it went well. */
  record(durationMs: number, errorCode: string | null): void {
    this.requests += 1
    this.busyMs += durationMs
    if (errorCode === null) return
    this.errors += 1
    this.lastError = errorCode
  }
}

/**
 * Answers `$SRV.PING|INFO|STATS`, also with the service's name and instance id behind, so that the `nats`
 * tool and `ops status` see every replica, and how far its clock is ahead of its database's. A ping that
 * names calls is answered with those of them that are `atWork`. Source: NATS ADR-32; ours.
 */
export function answerMicroProtocol({
  nc,
  service,
  version,
  endpoints,
  atWork,
  clockAheadMs,
  logger,
}: {
  nc: NatsConnection
  service: string
  version: string
  endpoints: readonly EndpointStats[]
  /** Ids of the calls that this process has taken and not answered yet. */
  atWork: ReadonlySet<string>
  clockAheadMs: (() => number) | undefined
  logger: Logger
}): { stop(): void } {
  const id = nuid.next()
  const identity = (data?: Uint8Array) => {
    const calls = data === undefined ? null : readQuestion(data, atWork)
    return {
      ...{ name: service, id, version },
      metadata: {
        pid: String(process.pid),
        ...(clockAheadMs === undefined ? {} : { clock_ahead_ms: String(clockAheadMs()) }),
        ...(calls === null ? {} : { calls }),
      },
    }
  }
  const started = new Date().toISOString()
  const answers = {
    PING: (data: Uint8Array) => ({ type: 'io.nats.micro.v1.ping_response', ...identity(data) }),
    INFO: () => ({
      type: 'io.nats.micro.v1.info_response',
      ...identity(),
      description: `Pitboss ${service}`,
      endpoints: endpoints.map(({ subject, queueGroup }) => ({
        name: endpointName(subject),
        subject,
        queue_group: queueGroup,
        metadata: null,
      })),
    }),
    STATS: () => ({
      type: 'io.nats.micro.v1.stats_response',
      ...identity(),
      started,
      endpoints: endpoints.map(renderStats),
    }),
  }
  const subscriptions = (['PING', 'INFO', 'STATS'] as const).flatMap((verb) =>
    [`$SRV.${verb}`, `$SRV.${verb}.${service}`, `$SRV.${verb}.${service}.${id}`].map((subject) =>
      nc.subscribe(subject, {
        callback: (err, message) => {
          if (err !== null) logger.error({ err, subject }, 'micro.failed')
          else respond(message, answers[verb](message.data))
        },
      }),
    ),
  )
  return {
    stop() {
      for (const subscription of subscriptions) subscription.unsubscribe()
    },
  }
}

function respond(message: Msg, body: unknown): void {
  if (isAnswerable(message.reply)) message.respond(encodeJson(body))
}

function renderStats(stats: EndpointStats) {
  const busyNs = Math.round(nanos(stats.busyMs))
  return {
    name: endpointName(stats.subject),
    subject: stats.subject,
    queue_group: stats.queueGroup,
    num_requests: stats.requests,
    num_errors: stats.errors,
    last_error: stats.lastError,
    processing_time: busyNs,
    average_processing_time: stats.requests === 0 ? 0 : Math.round(busyNs / stats.requests),
  }
}

function endpointName(subject: string): string {
  return subject.replaceAll('.', '_')
}
