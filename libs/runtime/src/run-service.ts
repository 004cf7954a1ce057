import { flushCompileCache } from 'node:module'
import type { Logger } from 'pino'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { ConfigError, endBadConfig, loadConfig } from './load-config.ts'
import { startProbeServer, createReadiness, type ReadinessCheck } from './probe-server.ts'
import { z } from 'zod'
import { createLogger } from './create-logger.ts'
import { logFields } from '@pitboss/tracing/spans'
import { beginTracing, isTracingWanted, tracingConfig } from './tracing-config.ts'

/** The parts of its process that a running service gets. */
export type ServiceHost = {
  readonly logger: Logger
  readonly registry: Registry
  /** Adds a condition of `/readyz`; its name is what a 503 shows. */
  readonly check: (name: string, check: ReadinessCheck) => void
  /** Aborted at SIGTERM or SIGINT; a start that waits must listen to it. */
  readonly stopping: AbortSignal
  /** Ends the process with exit code 1, for what only a fresh process can repair. */
  readonly fail: (error: unknown) => void
}

export type RunningService = { stop(): Promise<void> }

/** Longest time from SIGTERM to the end of a process; whoever stops it waits longer. */
export const stopTimeoutMs = 10_000

/**
 * Runs a service as a process: probes on `probeHost` and `probePort` (0 = any free one) before `start`
 * begins, `/readyz` red until it has resolved. SIGTERM or SIGINT stops it within 10 s and exits 0 (1 when
 * stopping failed or took longer); a second signal ends it at once. An uncaught error is logged and ends the
 * process with exit code 1, a ConfigError with 78.
 */
export async function runService({
  name,
  logger,
  probeHost,
  probePort,
  start,
}: {
  name: string
  logger: Logger
  probeHost: string
  probePort: number
  start: (host: ServiceHost) => Promise<RunningService>
}): Promise<void> {
  const registry = new Registry()
  registry.setDefaultLabels({ service: name })
  // Each look takes 50 µs: at the default, every 10 ms, that is half of what an idle process costs. What is
  // recorded of the event loop includes this pause.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 500 })
  const readiness = createReadiness()
  const stopping = new AbortController()
  let started = false
  let running: RunningService | null = null

  const fail = (err: unknown) => {
    if (err instanceof ConfigError) endBadConfig(err)
    logger.fatal({ err }, 'service.failed')
    process.exit(1)
  }
  process.on('uncaughtException', fail)
  process.on('unhandledRejection', fail)
  readiness.check('started', () => started && !stopping.signal.aborted)
  const probes = await startProbeServer({
    host: probeHost,
    port: probePort,
    missing: readiness.missing,
    registry,
  })
  logger.info({ probe_port: probes.port }, 'service.starting')

  const stop = async (signal: string) => {
    if (stopping.signal.aborted) {
      logger.warn({ signal }, 'service.killed')
      process.exit(1)
    }
    stopping.abort()
    logger.info({ signal }, 'service.stopping')
    setTimeout(() => fail(new Error('stopping took longer than 10 s')), stopTimeoutMs).unref()
    await starting.catch(() => undefined)
    await running?.stop()
    await probes.close()
    logger.info('service.stopped')
    process.exit(0)
  }
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.on(signal, () => {
      stop(signal).catch(fail)
    })
  }

  // A supervisor that gave this process a channel is gone when the channel closes.
  process.once('disconnect', () => {
    stop('disconnect').catch(fail)
  })

  const starting = (async () => {
    running = await start({ logger, registry, check: readiness.check, stopping: stopping.signal, fail })
    started = true
    logger.info('service.started')
    // Node writes what it has compiled at the end of a process alone: one that is killed would leave nothing.
    flushCompileCache()
  })()
  starting.catch((err: unknown) => {
    if (!stopping.signal.aborted) fail(err)
  })
}

type ProcessConfig = {
  readonly PITBOSS_LOG_LEVEL: string
  readonly PITBOSS_PROBE_HOST: string
  readonly PITBOSS_PROBE_PORT: number
}

/**
 * Runs a service as this process: reads its configuration from the environment (a bad value ends the process
 * with exit code 78), makes its logger, begins to trace where that is wanted, and starts it as `runService`
 * does.
 */
export async function bootService<Config extends ProcessConfig>({
  name,
  schema,
  start,
}: {
  name: string
  schema: z.ZodType<Config>
  start: (given: { config: Config; host: ServiceHost }) => Promise<RunningService>
}): Promise<void> {
  const config = loadConfig(schema)
  const traces = loadConfig(z.object(tracingConfig))
  const fields = isTracingWanted(traces) ? logFields : undefined
  const logger = createLogger({ service: name, level: config.PITBOSS_LOG_LEVEL, fields })
  const tracing = await beginTracing({ service: name, config: traces, logger })
  await runService({
    name,
    logger,
    probeHost: config.PITBOSS_PROBE_HOST,
    probePort: config.PITBOSS_PROBE_PORT,
    async start(host) {
      const running = await start({ config, host })
      return {
        async stop() {
          await running.stop()
          await tracing?.stop()
        },
      }
    },
  })
}
