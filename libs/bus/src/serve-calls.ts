import type { Call, CallContext, RequestOf } from '@pitboss/contracts/call'
import { errorCatalogue } from '@pitboss/errors/catalogue'
import { ServiceError } from '@pitboss/errors/service-error'
import { startPoll } from '@pitboss/runtime/poll'
import { clockAgrees } from '@pitboss/runtime/while-clock-agrees'
import { within } from '@pitboss/runtime/within'
import { inSpan, type OpenSpan } from '@pitboss/tracing/spans'
import { headers, type Msg, type Subscription } from 'nats'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { z } from 'zod'
import { isOutage, notStarted } from './call-failure.ts'
import {
  readCallContext,
  callHeaders,
  encodeJson,
  encodeServiceError,
  isAnswerable,
  replyOf,
} from './wire.ts'
import { type CallMetrics, createCallMetrics } from './call-metrics.ts'
import type { Bus } from './connect-bus.ts'
import type { CallTokens } from './call-tokens.ts'
import { parseRequest } from './parse-reply.ts'
import { createPlaces } from './places.ts'
import { answerMicroProtocol, EndpointStats } from './micro-protocol.ts'

/**
 * The context that a handler gets: the deadline is always known. Hand it on with the calls it makes. The
 * token of the sender is no part of what is handed on.
 */
export type HandlerContext = CallContext & { readonly deadlineAtMs: number; readonly senderToken?: string }

/** A call with the function that answers it, closed over both types. */
export type CallHandler = {
  readonly subject: string
  readonly service: string
  readonly budgetMs: number
  readonly neverShed: boolean
  readonly isAudited: boolean
  /** False for a call whose definition says that it carries no token. */
  readonly needsToken: boolean
  /** Request bytes to reply bytes; `admit` judges the token before anything is begun. */
  readonly run: (data: Uint8Array, context: HandlerContext, admit: Admit) => Promise<Uint8Array>
}

type Admit = <Request>(call: Call<Request, unknown>, request: Request) => Promise<void>

/** How often the clock is looked at; the first call that is refused by it has the process leave at once. */
const clockLookEveryMs = 1000
const stopTimeoutMs = 10_000
/** Places of calls that are never shed, as a multiple of `concurrencyMax`. */
const neverShedShare = 8

/** Binds `fn` to `call`: the request is parsed before, the reply after it, without its unknown fields. */
export function handler<Request, Reply>(
  call: Call<Request, Reply>,
  fn: (request: Request, context: HandlerContext) => Promise<NoInfer<Reply>>,
): CallHandler {
  return {
    subject: call.subject,
    service: call.service,
    budgetMs: call.budgetMs,
    neverShed: call.neverShed ?? false,
    isAudited: call.isAudited ?? false,
    needsToken: !('none' in call.token),
    run: async (data, context, admit) => {
      const request = parseRequest(call, data)
      await admit(call, request)
      return encodeJson(call.reply.parse(await fn(request, context)))
    },
  }
}

/** The answer of an endpoint. */
export function answer<Body>(body: Body, status = 200) {
  return { status, body }
}

type Callable = { readonly request: z.ZodType; readonly reply: z.ZodType }
type ReplyOf<One extends Callable> = z.output<One['reply']>

/** Binds `fn` to each of these calls, as to the doors of operators' servers and of the dashboard. */
export function handlers<One extends Callable>(
  calls: readonly One[],
  fn: (request: RequestOf<One>, context: HandlerContext) => Promise<NoInfer<ReplyOf<One>>>,
): CallHandler[] {
  return calls.map((call) => handler(call as unknown as Call<RequestOf<One>, ReplyOf<One>>, fn))
}

/**
 * Answers calls in the queue group of the service. Every message is answered: with the reply, the handler's
 * ServiceError, SERVICE_UNAVAILABLE while the database is away, or INTERNAL_ERROR for any other error (logged
 * with its cause). An account's calls hold as many of the `concurrencyMax` places as are free; beyond that
 * the answer is SERVICE_UNAVAILABLE at once. Calls that are never shed have places of their own and wait for
 * one. A call whose token does not bear out its caller is INTERNAL_ERROR. While the clock is too far from
 * that of the database nothing is begun, and the process leaves the queue group, so that the replicas whose
 * clocks are right get all calls. `stop()` takes no more work and waits for the handlers at work, at
 * most 10 s.
 */
export async function serveCalls({
  bus,
  service,
  version,
  concurrencyMax = 256,
  clockAheadMs,
  tokens,
  logger,
  registry,
  handlers,
}: {
  bus: Bus
  service: string
  version: string
  concurrencyMax?: number
  /** Milliseconds that the clock is ahead of the database's; a service without a database has none. */
  clockAheadMs?: () => number
  /** Judges the tokens of calls; without it no call may need one. */
  tokens?: CallTokens
  logger: Logger
  /** Gets the metrics of calls. */
  registry?: Registry | undefined
  handlers: readonly CallHandler[]
}): Promise<{ stop(): Promise<void> }> {
  const places = createPlaces({ shedMax: concurrencyMax, keptMax: concurrencyMax * neverShedShare })
  const count = registry === undefined ? () => undefined : createCallMetrics(registry)
  const endpoints: EndpointStats[] = []
  const atWork = new Set<string>()
  const joins: (() => Subscription)[] = []

  for (const callHandler of handlers) {
    if (callHandler.service !== service) {
      throw new Error(`${callHandler.subject} belongs to ${callHandler.service}, not to ${service}`)
    }
    if (callHandler.needsToken && tokens === undefined) {
      throw new Error(`nobody would judge the tokens of ${callHandler.subject}`)
    }
    const stats = new EndpointStats(callHandler.subject, service)
    endpoints.push(stats)
    joins.push(() => {
      const subscription = bus.nc.subscribe(callHandler.subject, { queue: service })
      acceptLoop(subscription, (message) => accept(callHandler, stats, message), logger)
      return subscription
    })
  }
  const agrees = () => clockAgrees(clockAheadMs?.() ?? 0)
  let isJoined = true
  let subscriptions = joins.map((join) => join())
  const watch = startPoll({
    event: 'calls.not-rejoined',
    everyMs: clockLookEveryMs,
    work: async () => {
      if (agrees() === isJoined || !bus.connected()) return
      isJoined = !isJoined
      const left = subscriptions
      subscriptions = isJoined ? joins.map((join) => join()) : []
      logger.warn({ clock_ahead_ms: clockAheadMs?.() }, isJoined ? 'calls.joined' : 'calls.left')
      await Promise.all(left.map((subscription) => drain(subscription)))
    },
    logger,
  })
  // A bus that is closed takes no call back.
  void bus.closed.then(() => watch.stop())
  const micro = answerMicroProtocol({ nc: bus.nc, service, version, endpoints, atWork, clockAheadMs, logger })
  await bus.nc.flush()

  function accept(callHandler: CallHandler, stats: EndpointStats, message: Msg): void {
    const { subject } = message
    if (!isAnswerable(message.reply)) {
      logger.warn({ subject }, 'call.without-inbox')
      return
    }
    if (!agrees()) {
      refuse(subject, stats, message)
      watch.wake()
      logger.warn({ subject, clock_ahead_ms: clockAheadMs?.() }, 'call.refused-by-clock')
      return
    }
    const account = message.headers?.get(callHeaders.account) || null
    const id = message.headers?.get(callHeaders.call) ?? ''
    atWork.add(id)
    const start = () =>
      answerMessage({ bus, callHandler, stats, message, tokens, count, logger }).finally(() =>
        atWork.delete(id),
      )
    if (places.offer({ account, neverShed: callHandler.neverShed, start }) === 'taken') return
    atWork.delete(id)
    refuse(subject, stats, message)
    logger.warn({ subject, in_flight: places.size, operator_id: account }, 'call.shed')
  }

  /** Answers that nothing was begun. */
  function refuse(subject: string, stats: EndpointStats, message: Msg): void {
    stats.record(0, 'SERVICE_UNAVAILABLE')
    count({ subject, code: 'SERVICE_UNAVAILABLE', durationMs: 0 })
    const error = new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1, cause: notStarted })
    respond(bus, message, errorReply(error)).catch((err: unknown) => {
      logger.error({ err, subject }, 'call.not-accepted')
    })
  }

  return {
    async stop() {
      await watch.stop()
      await Promise.all(subscriptions.map((subscription) => drain(subscription)))
      await within(places.ended(), stopTimeoutMs)
      micro.stop()
      if (bus.connected()) await bus.flush()
    },
  }
}

type Answering = {
  bus: Pick<Bus, 'write'>
  callHandler: CallHandler
  stats: EndpointStats
  message: Msg
  tokens: CallTokens | undefined
  count: CallMetrics
  logger: Logger
}

/** Runs one call to its answer, below a span of its own. Never rejects. */
function answerMessage(given: Answering): Promise<void> {
  const { callHandler, message } = given
  const context = readCallContext(message.headers, callHandler.budgetMs, Date.now())
  const { requestId } = context
  const attributes = {
    'rpc.system.name': 'nats',
    'rpc.method': callHandler.subject,
    'pitboss.request_id': requestId,
  }
  return inSpan(
    callHandler.subject,
    { kind: 'server', parent: context.traceparent ?? null, attributes, requestId },
    (span) => answerWithin(given, context, span),
  )
}

async function answerWithin(
  { bus, callHandler, stats, message, tokens, count, logger }: Answering,
  context: HandlerContext,
  span: OpenSpan,
): Promise<void> {
  const startedAtMs = performance.now()
  let code = 'OK'
  let err: unknown
  try {
    if (context.deadlineAtMs <= Date.now()) {
      throw new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1, cause: 'deadline-passed' })
    }
    const token = message.headers?.get(callHeaders.token) || null
    const sent = { token, requestId: context.requestId }
    const given = token === null ? context : { ...context, senderToken: token }
    const reply = await callHandler.run(message.data, given, async (call, request) => {
      await tokens?.admit(call, request, sent)
    })
    await respond(bus, message, await replyOf(reply))
  } catch (error) {
    const known = toServiceError(error)
    code = known.code
    err = known.cause
    await respond(bus, message, errorReply(known)).catch((cause: unknown) => {
      err = cause
    })
  }
  const durationMs = performance.now() - startedAtMs
  stats.record(durationMs, code === 'OK' ? null : code)
  count({ subject: callHandler.subject, code, durationMs })
  span.set({ 'pitboss.code': code })
  if (code === 'INTERNAL_ERROR' || code === 'SERVICE_UNAVAILABLE') span.fail(code)
  const line = {
    subject: callHandler.subject,
    request_id: context.requestId,
    traceparent: context.traceparent,
    duration_ms: Math.round(durationMs * 10) / 10,
    code,
    ...(err === undefined
      ? {}
      : { err: err instanceof Error ? err : new Error(`cause: ${JSON.stringify(err)}`) }),
  }
  if (code === 'INTERNAL_ERROR') logger.error(line, 'call.served')
  else logger.info(line, 'call.served')
}

function toServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  if (isOutage(error)) return new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1, cause: error })
  return new ServiceError('INTERNAL_ERROR', { cause: error })
}

function acceptLoop(subscription: Subscription, accept: (message: Msg) => void, logger: Logger): void {
  const loop = async () => {
    for await (const message of subscription) {
      try {
        accept(message)
      } catch (err) {
        logger.error({ err, subject: message.subject }, 'call.not-accepted')
      }
    }
  }
  loop().catch((err: unknown) => logger.error({ err, subject: subscription.getSubject() }, 'call.loop-ended'))
}

type WireReply = Awaited<ReturnType<typeof replyOf>>

function respond(bus: Pick<Bus, 'write'>, message: Msg, { data, options }: WireReply): Promise<void> {
  return bus.write(() => void message.respond(data, options))
}

function errorReply(error: ServiceError): WireReply {
  const head = headers()
  head.set(callHeaders.errorCode, String(errorCatalogue[error.code].status))
  head.set(callHeaders.error, error.code)
  return { data: encodeServiceError(error), options: { headers: head } }
}

async function drain(subscription: Subscription): Promise<void> {
  if (!subscription.isClosed()) await subscription.drain()
}
