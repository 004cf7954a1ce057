import { JetStreamApiError } from '@nats-io/jetstream'
import type { Call, CallContext } from '@pitboss/contracts/call'
import { connect, headers, type Msg, type NatsConnection, PermissionViolationError } from 'nats'
import type { Logger } from 'pino'
import { z } from 'zod'
import { callFailure } from './call-failure.ts'
import { connectionOptions } from './connection-options.ts'
import { gatherWrites } from './gather-writes.ts'
import { accountOf, readReply, callHeaders, decodeJson, decodeServiceError, encodeJson } from './wire.ts'
import { parseReply } from './parse-reply.ts'
import { openReplyInbox, type ReplyInbox } from './reply-inbox.ts'
import { headersWith, traceCall, tracePublish } from './trace-call.ts'
import { watchCallees } from './watch-callees.ts'
import type { ServiceHost } from '@pitboss/runtime/run-service'

/** A PubAck that has not come by then counts as a failure; a full disk makes publishes hang. */
const publishTimeoutMs = 2000

/** By it a stream knows an event that it has already. */
const messageIdHeader = 'Nats-Msg-Id'

/** What a stream answers to a publish. */
const acknowledgementSchema = z.union([
  z.object({ error: z.object({ code: z.int(), err_code: z.int(), description: z.string() }) }),
  z.object({ seq: z.int().positive(), duplicate: z.boolean().default(false) }),
])

export type Bus = {
  /**
   * Asks the service that answers `call`, for at most the call's budget or until the context's deadline.
   * @throws ServiceError the callee's own, or SERVICE_UNAVAILABLE whose cause is `disconnected`,
   * `no-responders` or `shed` (nothing was started), or `timeout` or `lost` (the outcome is unknown).
   */
  call<Request, Reply>(
    call: Call<Request, Reply>,
    request: NoInfer<Request>,
    context?: CallContext,
  ): Promise<Reply>
  /** Asks outside the table of calls, as for `$SRV.PING.auth`. @throws ServiceError as `call` does. */
  request(subject: string, options: { timeoutMs: number }): Promise<Msg>
  /** As `request`, for every answer within `listenMs`, at most `repliesMax`; none without a subscriber. */
  collect(subject: string, options: { listenMs: number; repliesMax: number }): Promise<Msg[]>
  /**
   * Publishes into JetStream under the event's id, or without one past the stream's memory of ids; resolves
   * on the PubAck alone: the event's sequence, and whether the stream had it before. `traceparent`: of what
   * made the event, to go on with it.
   * @throws within 2 s, else.
   */
  publishEvent(event: {
    id: string | null
    subject: string
    payload: Uint8Array
    traceparent?: string | undefined
  }): Promise<{ seq: number; duplicate: boolean }>
  /** Core publish, at most once: for wake-ups. Dropped while disconnected. */
  publish(subject: string, payload: Uint8Array): void
  /** Core subscription without a queue group. A throw of `fn` is logged and ends nothing. */
  subscribe(
    subject: string,
    fn: (message: { subject: string; data: Uint8Array }) => void,
  ): { unsubscribe(): void }
  /** Sends at the end of this turn of the event loop. Rejects with the client's error. */
  write(send: () => void): Promise<void>
  /** Resolves when the server has all that was written. @throws when the connection is lost before */
  flush(): Promise<void>
  readonly nc: NatsConnection
  connected(): boolean
  /** Rises with each new connection to the broker. */
  connection(): number
  /** Aborts when the present connection to the broker is lost; has done so while there is none. */
  present(): AbortSignal
  /** Resolves when the connection is over for good, by `close()` or else: a process must not outlive it. */
  readonly closed: Promise<void>
  close(): Promise<void>
}

/** Waits for the first server. @throws when not `patient` and none answers within its time-out */
export async function connectBus({
  url,
  nkeySeed,
  service,
  logger,
  patient = true,
}: {
  url: string
  nkeySeed?: string | undefined
  service: string
  logger: Logger
  patient?: boolean
}): Promise<Bus> {
  const nc = await connect(connectionOptions({ url, nkeySeed, service, patient }))
  const writes = gatherWrites()
  const inbox = openReplyInbox(nc, service, writes)
  const link = watchLink(nc, inbox, logger)
  const callees = watchCallees({ inbox, connected: link.connected })

  async function ask<Request, Reply>(
    call: Call<Request, Reply>,
    request: Request,
    context: CallContext | undefined,
    traceparent: string,
  ): Promise<Reply> {
    const deadlineAtMs = Math.min(Date.now() + call.budgetMs, context?.deadlineAtMs ?? Infinity)
    if (!link.connected()) throw callFailure('disconnected')
    const data = encodeJson(request)
    assertFits(nc, call.subject, data)
    const head = headersWith(traceparent)
    if (context !== undefined) head.set(callHeaders.requestId, context.requestId)
    if (context?.atOnce === true) head.set(callHeaders.atOnce, '1')
    if (context?.token !== undefined) head.set(callHeaders.token, context.token)
    head.set(callHeaders.deadline, String(deadlineAtMs))
    const account = accountOf(request)
    if (account !== null) head.set(callHeaders.account, account)
    const timeoutMs = deadlineAtMs - Date.now()
    if (timeoutMs < 1) throw callFailure('timeout')
    const { id, lost, end } = callees.watch(call.service)
    head.set(callHeaders.call, id)
    const message = await inbox.request(call.subject, data, { timeoutMs, headers: head, lost }).finally(end)
    if (message.headers?.has(callHeaders.errorCode)) throw decodeServiceError(message.data)
    return parseReply(call, await readReply(message))
  }

  const flush = () => {
    writes.flush()
    return nc.flush()
  }

  return {
    nc,
    write: writes.write,
    flush,
    connected: link.connected,
    connection: link.connection,
    present: link.present,
    closed: link.closed,
    call: (call, request, context) =>
      traceCall(call.subject, context, (traceparent) => ask(call, request, context, traceparent)),
    async request(subject, options) {
      if (!link.connected()) throw callFailure('disconnected')
      return inbox.request(subject, new Uint8Array(), options)
    },
    async collect(subject, options) {
      if (!link.connected()) throw callFailure('disconnected')
      return (await inbox.collect(subject, options)) ?? []
    },
    async publishEvent({ id, subject, payload, traceparent }) {
      if (!link.connected()) throw new Error(`not connected to NATS: ${id ?? subject} was not published`)
      assertFits(nc, subject, payload)
      return tracePublish({ id, subject, traceparent }, async (given) => {
        const head = given ?? headers()
        if (id !== null) head.set(messageIdHeader, id)
        const message = await inbox.request(subject, payload, { timeoutMs: publishTimeoutMs, headers: head })
        const acknowledgement = acknowledgementSchema.parse(decodeJson(message.data))
        if ('error' in acknowledgement) throw new JetStreamApiError(acknowledgement.error)
        return acknowledgement
      })
    },
    publish(subject, payload) {
      const publish = () => (link.connected() ? nc.publish(subject, payload) : undefined)
      writes.write(publish).catch((err: unknown) => logger.error({ err, subject }, 'note.not-published'))
    },
    subscribe(subject, fn) {
      const subscription = nc.subscribe(subject)
      const loop = async () => {
        for await (const message of subscription) {
          try {
            fn({ subject: message.subject, data: message.data })
          } catch (err) {
            logger.error({ err, subject: message.subject }, 'subscription.failed')
          }
        }
      }
      loop().catch((err: unknown) => logger.error({ err, subject }, 'subscription.ended'))
      return { unsubscribe: () => subscription.unsubscribe() }
    },
    async close() {
      if (nc.isClosed()) return
      if (link.connected()) await flush().catch(() => undefined)
      await nc.close()
    },
  }
}

function watchLink(nc: NatsConnection, inbox: ReplyInbox, logger: Logger) {
  let connection = 1
  let lost = new AbortController()
  const watch = async () => {
    for await (const status of nc.status()) {
      if (status.type === 'disconnect') {
        lost.abort()
        logger.warn('nats.disconnected')
      } else if (status.type === 'reconnect') {
        lost = new AbortController()
        connection += 1
        logger.info('nats.reconnected')
      } else if (status.type === 'error') {
        const { error } = status
        logger.error({ err: error }, 'nats.error')
        if (error instanceof PermissionViolationError && error.operation === 'publish')
          inbox.refused(error.subject)
      } else if (status.type === 'slowConsumer') {
        logger.warn('nats.slow-consumer')
      }
    }
  }
  watch().catch((err: unknown) => logger.error({ err }, 'nats.status-ended'))
  const closed = nc.closed().then((err) => {
    lost.abort()
    if (err instanceof Error) logger.error({ err }, 'nats.closed')
  })
  return {
    connected: () => !lost.signal.aborted && !nc.isClosed(),
    connection: () => connection,
    present: () => lost.signal,
    closed,
  }
}

function assertFits(nc: NatsConnection, subject: string, data: Uint8Array): void {
  const bytesMax = nc.info?.max_payload
  if (bytesMax !== undefined && data.length > bytesMax) {
    throw new RangeError(`${data.length} bytes for ${subject} are more than NATS takes (${bytesMax})`)
  }
}

/** Connects a service to NATS. Its process ends when the connection is over for good. */
export async function connectServiceBus({
  service,
  config,
  host,
}: {
  service: string
  config: { readonly NATS_URL: string; readonly NATS_NKEY_SEED?: string | undefined }
  host: Pick<ServiceHost, 'logger' | 'stopping' | 'fail'>
}): Promise<Bus> {
  const { logger } = host
  const bus = await connectBus({ url: config.NATS_URL, nkeySeed: config.NATS_NKEY_SEED, service, logger })
  void bus.closed.then(() => {
    if (!host.stopping.aborted) host.fail(new Error('the NATS connection is closed'))
  })
  return bus
}
