import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Bus, connectServiceBus } from '@pitboss/bus/connect-bus'
import { createTailNotes } from '@pitboss/bus/tail-notes'
import { serveCalls } from '@pitboss/bus/serve-calls'
import type { RunningService, ServiceHost } from '@pitboss/runtime/run-service'
import { newId } from '@pitboss/runtime/new-id'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { createAccessState } from './access/access-state.ts'
import { type GatewayConfig, limiterRules } from './config.ts'
import { createStaticFiles } from './answers/pages.ts'
import { createApp } from './http/create-app.ts'
import type { AnswerDeps, Handler } from './http/inbound.ts'
import { createOwnChecks, createReadinessProbe, type OwnChecks } from './answers/probes.ts'
import { createTails } from './answers/tails.ts'
import { repeatUnstarted } from './http/repeat-unstarted.ts'
import { createRequestLog, type RequestLog } from './http/request-log.ts'
import { httpsHeaders } from './http/send.ts'
import { createLimiters, limitsSubject } from './limits/limiters.ts'
import { createLoadGauge } from './limits/load-gauge.ts'
import { createBodyIntake } from './limits/body-intake.ts'
import { createPlaces } from '@pitboss/runtime/places'
import { createRateCounter } from './limits/rate-counter.ts'
import { createMetrics } from './metrics.ts'
import type { RouteEntry } from './routes/route-entry.ts'
import { routeTable } from './routes/route-table.ts'

const drainTimeoutMs = 9000

export type Gateway = {
  readonly port: number
  readonly ownChecks: OwnChecks
  /**
   * Takes no more connections, finishes requests at work (at most 9 s), writes the request log. The bus stays
   * open.
   */
  stop(): Promise<void>
}

/**
 * Starts a gateway on a connected bus. Several on one machine may listen on the same port: the kernel spreads
 * connections over them (SO_REUSEPORT). `nowMs` is the clock of tokens, `limitsNowMs` that of limits: it is
 * never set back, which would keep old counts for as long.
 * @throws when the port is taken.
 */
export async function startGateway({
  config,
  bus: plainBus,
  logger,
  registry,
  nowMs = Date.now,
  limitsNowMs = () => performance.now(),
}: {
  config: GatewayConfig
  bus: Bus
  logger: Logger
  registry: Registry
  nowMs?: () => number
  limitsNowMs?: () => number
}): Promise<Gateway> {
  const bus = repeatUnstarted(plainBus)
  const access = createAccessState({ bus, logger, nowMs })
  const metrics = createMetrics(registry, () => gauge.inFlight())
  const limiters = createLimiters({
    rules: limiterRules(config),
    replicaId: newId('gw'),
    publish: (data) => bus.publish(limitsSubject, data),
    nowMs: limitsNowMs,
    onRefused: metrics.refused,
  })
  const exchange = bus.subscribe(limitsSubject, ({ data }) => limiters.receive(data))
  const gauge = createLoadGauge({
    readDelayMs: config.PITBOSS_SHED_READ_DELAY_MS,
    stakeDelayMs: config.PITBOSS_SHED_STAKE_DELAY_MS,
    readInFlightMax: config.PITBOSS_SHED_READ_IN_FLIGHT,
    stakeInFlightMax: config.PITBOSS_SHED_STAKE_IN_FLIGHT,
  })
  const intake = createBodyIntake({
    perAddressMax: config.PITBOSS_LIMIT_ADDRESS_BODIES,
    allMax: config.PITBOSS_LIMIT_BODIES,
  })
  const notes = createTailNotes({ bus, root: 'gateway', logger })
  const rows = createRequestLog({ bus: plainBus, logger })
  const requestLog: RequestLog = {
    ...rows,
    add(row) {
      rows.add(row)
      const { operatorId, environment, ...shown } = row
      notes.tell({ operatorId, environment }, 'requests', () => shown)
    },
  }
  const tails = createTails({
    ...{ bus, access, gauge, logger },
    limits: {
      person: config.PITBOSS_LIMIT_PERSON_TAILS,
      account: config.PITBOSS_LIMIT_ACCOUNT_TAILS,
      all: config.PITBOSS_LIMIT_TAILS,
    },
  })
  const missing = createReadinessProbe({ bus, access })
  const webFolder = config.PITBOSS_WEB_FOLDER
  const pages = webFolder === undefined ? null : createStaticFiles(webFolder)
  const baseUrl = config.PITBOSS_BASE_URL
  let stopping: Promise<void> | null = null
  const app = createApp({
    access,
    limiters,
    gauge,
    intake,
    places: {
      account: createPlaces(config.PITBOSS_LIMIT_ACCOUNT_PLACES),
      address: createPlaces(config.PITBOSS_LIMIT_ADDRESS_PLACES),
    },
    connections: createPlaces(config.PITBOSS_LIMIT_ADDRESS_CONNECTIONS),
    moreHeaders: baseUrl.startsWith('https://') ? httpsHeaders(config.PITBOSS_HSTS_SUBDOMAINS === 'yes') : {},
    trustedProxies: config.PITBOSS_TRUSTED_PROXIES,
    bodyTimeoutMs: config.PITBOSS_BODY_TIMEOUT_MS,
    headersTimeoutMs: config.PITBOSS_HEADERS_TIMEOUT_MS,
    handlerOf: createHandlers({ bus, limiters, tails, baseUrl, pages, missing, routes: routeTable }),
    logger,
    requestLog,
    metrics,
    clientTraces: createRateCounter({
      kind: 'bucket',
      perSecond: config.PITBOSS_LIMIT_CLIENT_TRACES_PER_S,
      burst: config.PITBOSS_LIMIT_CLIENT_TRACES_PER_S,
    }),
    isStopping: () => stopping !== null,
  })
  await app.ready()
  const { server } = app
  server.listen({ host: config.HOST, port: config.PORT, reusePort: true })
  await once(server, 'listening')
  const port = portOf(server.address())
  logger.info({ host: config.HOST, port }, 'gateway.listening')

  async function stop(): Promise<void> {
    tails.stop()
    notes.stop()
    await closeServer(server)
    await app.close()
    limiters.stop()
    exchange.unsubscribe()
    gauge.stop()
    await requestLog.stop()
    await access.stop()
  }

  return {
    port,
    ownChecks: createOwnChecks({ bus, access }),
    stop() {
      stopping ??= stop()
      return stopping
    },
  }
}

/** Connects to NATS, and starts the gateway there. */
export async function runGateway({
  config,
  host,
}: {
  config: GatewayConfig
  host: ServiceHost
}): Promise<RunningService> {
  const { logger, registry } = host
  const bus = await connectServiceBus({ service: 'gateway', config, host })
  // Serves no calls; `ops status` finds the gateway by it.
  const presence = await serveCalls({ bus, service: 'gateway', version: '0.1.0', logger, handlers: [] })
  const gateway = await startGateway({ config, bus, logger, registry })
  for (const [name, check] of Object.entries(gateway.ownChecks)) host.check(name, check)
  return {
    async stop() {
      await gateway.stop()
      await presence.stop()
      await bus.close()
    },
  }
}

/** Binds rows to the handlers of this gateway; rows that name the same answer share a handler. */
function createHandlers(deps: AnswerDeps): (entry: RouteEntry) => Handler {
  const handlers = new Map<RouteEntry['answer'], Handler>()
  return ({ answer }) => {
    const handler = handlers.get(answer) ?? answer(deps)
    handlers.set(answer, handler)
    return handler
  }
}

/** Closes idle connections at once, others after their answer, and all after the time-out. */
async function closeServer(server: Server): Promise<void> {
  const timer = setTimeout(() => server.closeAllConnections(), drainTimeoutMs)
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
  clearTimeout(timer)
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('the gateway has no port')
  return address.port
}
