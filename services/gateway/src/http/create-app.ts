import { toEventEnvironment } from '@pitboss/contracts/primitives'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { z } from 'zod'
import { isRepeatedHeader, requestIdOf } from '../input/headers.ts'
import type { Places } from '@pitboss/runtime/places'
import type { Metrics } from '../metrics.ts'
import { registerRoutes } from '../routes/register-routes.ts'
import { readRefusal } from './read-refusal.ts'
import type { RequestLog } from './request-log.ts'
import { boundConnections, createConnections, type Connections } from './connections.ts'
import { answerConnect, commonHeaders, errorAnswer, sendAnswer } from './send.ts'
import { serveRequest, type Served, type ServeDeps } from './serve-request.ts'
import { traceRequest } from './trace-request.ts'
import type { RateCounter } from '../limits/rate-counter.ts'

const headerBytesMax = 16 * 1024
const timeoutsCheckedMaxMs = 2000
/** A connection without traffic for so long is closed; longer than the longest call (60 s). */
const idleTimeoutMs = 75_000
const keepAliveMs = 65_000
const connectionsMax = 20_000
const pathParameterCharactersMax = 1024
/** Of the path in the request log. */
const pathCharactersMax = 512

const paramsSchema = z.record(z.string(), z.string())

export type AppDeps = ServeDeps & {
  readonly logger: Logger
  readonly requestLog: RequestLog
  readonly metrics: Metrics
  /** Bounds the traces that are recorded because clients wish it. */
  readonly clientTraces: Pick<RateCounter, 'take'>
  readonly headersTimeoutMs: number
  /** Headers of every answer beside the common ones. */
  readonly moreHeaders: Readonly<Record<string, string>>
  /** Connections by address. */
  readonly connections: Places
  /** True once the gateway takes no more work; connections are closed after their answer then. */
  readonly isStopping: () => boolean
}

type Deps = AppDeps & { readonly connectionsOf: Connections }

/**
 * Creates the HTTP server with every route of the table. Each request is answered inside the one `onRequest`
 * hook, by `serveRequest`; the handlers that fastify knows only throw. Fastify is server and router here: no
 * parser, schema or plugin of it runs. Reasons: docs/decisions/2026-11-22-fastifys-role.md.
 */
export function createApp(given: AppDeps): FastifyInstance {
  const deps: Deps = { ...given, connectionsOf: createConnections() }
  const app = fastify({
    logger: false,
    genReqId: requestIdOf,
    requestIdHeader: false,
    routerOptions: {
      maxParamLength: pathParameterCharactersMax,
      ignoreTrailingSlash: false,
      querystringParser: () => ({}),
    },
    keepAliveTimeout: keepAliveMs,
    connectionTimeout: idleTimeoutMs,
    requestTimeout: 0,
    return503OnClosing: false,
    exposeHeadRoutes: true,
    http: {
      maxHeaderSize: headerBytesMax,
      requireHostHeader: false,
      connectionsCheckingInterval: Math.min(timeoutsCheckedMaxMs, deps.headersTimeoutMs),
    },
    clientErrorHandler: (error, socket) => deps.connectionsOf.onError(error, socket),
    frameworkErrors: (_error, request, reply) => {
      answerOutside(deps, request, reply, new ServiceError('NOT_FOUND'))
    },
  })
  app.server.headersTimeout = deps.headersTimeoutMs
  app.server.maxConnections = connectionsMax
  app.server.on('connection', (socket) => boundConnections(deps, socket))
  app.server.on('connect', answerConnect)
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.setErrorHandler((error, request, reply) => answerOutside(deps, request, reply, error))
  app.setNotFoundHandler((request, reply) =>
    answerOutside(deps, request, reply, new ServiceError('NOT_FOUND')),
  )
  app.addHook('onRequest', async (request, reply) => answerRequest(deps, request, reply))
  registerRoutes(app)
  return app
}

async function answerRequest(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const startedMs = performance.now()
  const connection = deps.connectionsOf.begin(request.raw, reply.raw)
  if (connection.ends) return reply.hijack()
  const { entry } = request.routeOptions.config
  if (request.is404 || entry === undefined) {
    return answerOutside(deps, request, reply, new ServiceError('NOT_FOUND'))
  }
  const problem = requestProblem(request)
  // A proxy may see the end of such a request elsewhere, so nothing more is read from its connection.
  if (problem !== null) {
    connection.ends = true
    reply.header('connection', 'close')
  }
  const { raw, id: requestId } = request
  const route = `${entry.method} ${entry.path}`
  const { clientTraces } = deps
  return traceRequest({ raw, requestId, route, clientTraces }, async (span) => {
    const served =
      problem === null
        ? await serveRequest(deps, { entry, raw, params: paramsSchema.parse(request.params), requestId })
        : refused(problem, request)
    const { status } = served.answer
    span.set({ 'http.response.status_code': status })
    if (status >= 500) span.fail(String(status))
    return finish(deps, request, reply, { served, startedMs, route })
  })
}

/** Answers a request without a row in the table. */
function answerOutside(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
): FastifyReply {
  const served = refused(error, request)
  return finish(deps, request, reply, { served, startedMs: performance.now(), route: 'none' })
}

/**
 * Refusals of who asks, where from or by which right. Each is a security event with a log line of its own.
 */
const accessRefusals: ReadonlySet<string> = new Set(['IP_NOT_ALLOWED', 'INSUFFICIENT_SCOPE', 'FORBIDDEN'])

/** Sends the answer, then counts and logs the request. */
function finish(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { served, startedMs, route }: { served: Served; startedMs: number; route: string },
): FastifyReply {
  const { answer, error, attribution, clientAddress } = served
  const { id: request_id, method, raw } = request
  const { status } = answer
  reply.headers({ ...commonHeaders, ...deps.moreHeaders, 'x-request-id': request_id })
  if (deps.isStopping()) reply.header('connection', 'close')
  sendAnswer(reply, answer)
  deps.connectionsOf.answered(raw)
  const latencyMs = performance.now() - startedMs
  const told = status < 400 ? null : readRefusal(answer.json)
  const code = told?.code ?? null
  deps.metrics.observe({ route, status, code, latencyMs })
  const line = {
    request_id,
    route,
    method,
    status,
    code,
    duration_ms: Math.round(latencyMs * 10) / 10,
    operator_id: attribution?.operatorId,
    ...(error instanceof ServiceError && error.cause instanceof Error ? { err: error.cause } : {}),
  }
  if (error !== null && !(error instanceof ServiceError)) {
    deps.logger.error({ ...line, err: error }, 'request.failed')
  } else deps.logger.info(line, 'request.served')
  if (code !== null && accessRefusals.has(code)) {
    const who = { operator_id: attribution?.operatorId, api_key: attribution?.apiKey }
    deps.logger.info({ request_id, route, code, ...who, client_address: clientAddress }, 'access.refused')
  }
  if (attribution === null) return reply
  deps.requestLog.add({
    operatorId: attribution.operatorId,
    environment: toEventEnvironment(attribution.mode),
    request_id,
    at: new Date(Date.now() - latencyMs).toISOString(),
    method,
    path: pathOf(raw.url ?? '/').slice(0, pathCharactersMax),
    status,
    code,
    latency_ms: Math.round(latencyMs),
    api_key: attribution.apiKey,
    client_address: clientAddress,
    ...(told === null ? {} : { answer: told.answer }),
  })
  return reply
}

/** The path of a request's target, which may name an authority before it. RFC 9112, section 3.2.2. */
function pathOf(target: string): string {
  return (target.split('?')[0] ?? '').replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '')
}

/** Finds what HTTP allows and the gateway does not; null for nothing. */
function requestProblem(request: FastifyRequest): ServiceError | null {
  const { headers, httpVersion } = request.raw
  if (httpVersion === '1.1' && headers.host === undefined) return invalidField('host', 'is required')
  if (isRepeatedHeader(request.raw, 'host')) return invalidField('host', 'must not appear twice')
  const encoding = headers['transfer-encoding']
  if (encoding !== undefined && httpVersion !== '1.1') {
    return invalidField('transfer-encoding', 'is for HTTP/1.1 alone')
  }
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked') {
    return invalidField('transfer-encoding', 'must be chunked or absent')
  }
  const expectation = headers.expect
  if (expectation !== undefined && expectation.toLowerCase() !== '100-continue') {
    return invalidField('expect', 'must be 100-continue or absent')
  }
  return null
}

function refused(error: unknown, request: FastifyRequest): Served {
  const clientAddress = request.raw.socket.remoteAddress ?? 'unknown'
  return { answer: errorAnswer(error, request.id), error, attribution: null, clientAddress }
}
