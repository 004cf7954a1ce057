import { connectServiceBus } from '@pitboss/bus/connect-bus'
import { waitForTopology } from '@pitboss/bus/consume-durable'
import { createConsumerMetrics, createStreamMetrics } from '@pitboss/bus/consumer-metrics'
import { handler } from '@pitboss/bus/serve-calls'
import { serveService } from '@pitboss/bus/serve-service'
import { webhooksFanout } from '@pitboss/bus/topology'
import { watchConsumer } from '@pitboss/bus/watch-consumer'
import { opsRewriteSeals } from '@pitboss/contracts/calls/seals'
import type { RunningService, ServiceHost } from '@pitboss/runtime/run-service'
import { connectServiceStorage } from '@pitboss/storage/connect-storage'
import { createConsumerPositions } from '@pitboss/storage/consumer-positions'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { openKeyring } from '@pitboss/storage/open-keyring'
import { createRewriteSeals } from '@pitboss/storage/rewrite-seals'
import { createFanoutLateness } from './actions/record-batch.ts'
import { allWings, indexes, seals as places } from './all-wings.ts'
import { eventHandlers } from './calls/events.ts'
import { endpointHandlers } from './calls/endpoints.ts'
import { opsHandlers } from './calls/ops.ts'
import { createPostWebhook } from './clients/post-webhook.ts'
import type { Config } from './config.ts'
import { openContext, unwrapped, type WebhooksWrap } from './open-context.ts'
import { startWorkers } from './start-workers.ts'
import type { Wing } from './context.ts'

const service = 'webhooks'

type Options = {
  config: Config
  host: ServiceHost
  wrap?: Partial<WebhooksWrap>
  wings?: readonly Wing[]
  attemptTimeoutMs?: number
  /** The monotonic clock by which the consumer is missed. */
  nowMs?: () => number
}

export async function startWebhooks(options: Options): Promise<RunningService> {
  const { config, host, wings = allWings, attemptTimeoutMs, nowMs = () => performance.now() } = options
  const { logger, registry } = host
  const wrap = { ...unwrapped, ...options.wrap }
  const bus = await connectServiceBus({ service, config, host })
  const storage = await connectServiceStorage({ service, config, host })
  host.check('nats', () => bus.connected())
  const { clock, clockAheadMs } = storage
  const db = wrap.db(storage.db)
  await storage.patiently((own) => ensureIndexes(own, indexes, logger))
  const keyring = await openKeyring(db, config.PITBOSS_MASTER_KEYS)
  const seals = createRewriteSeals({ db, keyring, places, logger })
  await seals.reportMissing()
  const { c, instances, copies } = await openContext({ config, bus, db, keyring, clock, wrap, logger })
  const recording = createFanoutLateness()
  let holdsFanout = () => false
  const remake = { positions: createConsumerPositions(db), orders: c.rewinds.orders }
  const watch = watchConsumer({
    ...{ bus, consumer: webhooksFanout, logger, nowMs },
    remake: { ...remake, notes: () => holdsFanout(), onBack: recording.forgive },
  })
  const { stream } = webhooksFanout
  const { durable_name: name } = webhooksFanout.config
  host.check(`consumer ${name}`, () => !watch.isStalled())
  await waitForTopology({ bus, consumers: [{ stream, name }], logger, signal: host.stopping })
  createConsumerMetrics({ registry, watch, consumer: webhooksFanout })
  createStreamMetrics({ registry, bus })
  const { post, close } = createPostWebhook(c.outbound, attemptTimeoutMs)
  const workers = startWorkers(c, { instances, storage, recording, wrap, post, registry })
  const given = { clockAheadMs, post, replaysMax: config.PITBOSS_LIMIT_ACCOUNT_REPLAYS }
  const open = wings.map((wing) => wing.open(c, given))
  const wingWorkers = open.flatMap(({ start }) => start?.() ?? [])
  holdsFanout = workers.holdsFanout
  const handlers = [
    ...eventHandlers(workers.calls),
    ...endpointHandlers(workers.calls),
    ...opsHandlers(workers.calls),
    handler(opsRewriteSeals.webhooks, ({ order, after }) => seals.page({ after, isDry: order.dryRun })),
    ...open.flatMap((wing) => wing.calls),
  ]
  const stopAudit = c.audit.start()
  const calls = await serveService({
    ...{ bus, service, config, host, clockAheadMs },
    // Also those that an operator's server makes, such as a retry.
    handlers: handlers.map((one) => ({ ...one, run: c.audit.following(one.run) })),
  })

  return {
    async stop() {
      await Promise.all([calls, watch, workers, ...wingWorkers].map((part) => part.stop()))
      await workers.retire()
      copies.stop()
      c.notes.stop()
      await stopAudit()
      await close()
      await bus.close()
      await storage.close()
    },
  }
}
