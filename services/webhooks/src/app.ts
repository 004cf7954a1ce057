import { randomUUID } from 'node:crypto'
import { connectServiceBus } from '@pitboss/bus/connect-service-bus'
import { serveCalls } from '@pitboss/bus/serve-calls'
import { waitForTopology } from '@pitboss/bus/wait-for-topology'
import { systemClock } from '@pitboss/runtime/clock'
import { newId } from '@pitboss/runtime/new-id'
import type { RunningService, ServiceHost } from '@pitboss/runtime/run-service'
import { createTimeScale } from '@pitboss/runtime/time-scale'
import { connectStorage } from '@pitboss/storage/connect-storage'
import { createCursorCodec } from '@pitboss/storage/cursor'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { openKeyring } from '@pitboss/storage/open-keyring'
import { createLease } from '@pitboss/storage/lease'
import { createRewindStore } from '@pitboss/storage/rewind-store'
import { createSecretBox } from '@pitboss/storage/secret-box'
import { createPostWebhook, type PostWebhook } from './clients/post-webhook.ts'
import type { Config } from './config.ts'
import { fanoutLeaseTtlMs, startFanout } from './consumers/fanout.ts'
import { createHandleFanoutBatch, fanoutConsumer } from './consumers/handle-fanout-batch.ts'
import { createRecordEvents, type RecordEvents } from './actions/record-events.ts'
import { deliveryHandlers } from './calls/deliveries.ts'
import { endpointHandlers } from './calls/endpoints.ts'
import { eventHandlers } from './calls/events.ts'
import { opsHandlers } from './calls/ops.ts'
import { replayHandlers } from './calls/replays.ts'
import { createMetrics } from './metrics.ts'
import { createBodyCache } from './storage/body-cache.ts'
import { collectionsOf, indexes } from './storage/collections.ts'
import { createDeliveryStore } from './storage/delivery-store.ts'
import { createEndpointStore } from './storage/endpoint-store.ts'
import { createEventStore } from './storage/event-store.ts'
import { createParkedStore } from './storage/parked-store.ts'
import { createReplayStore } from './storage/replay-store.ts'
import { startDispatcher } from './workers/dispatcher.ts'
import { createMakeAttempt } from './actions/make-attempt.ts'
import { createOpenSecret } from './actions/open-secret.ts'
import { createRecoverOrphans } from './workers/recover-orphans.ts'
import { replayLeaseTtlMs, startReplayWorker } from './workers/replay-worker.ts'
import { createSettleAttempt } from './actions/settle-attempt.ts'
import { createSlots } from './workers/slots.ts'
import { createWake } from './clients/wake.ts'

const service = 'webhooks'
const version = '0.1.0'
const slotsTotalMax = 1024
const slotsPerOperatorMax = 768
const bodyCacheCharactersMax = 16 * 1024 * 1024

/** Parts that a proof may put something around; the product leaves them as they are. */
export type WebhooksWrap = {
  post: (post: PostWebhook) => PostWebhook
  recordEvents: (record: RecordEvents) => RecordEvents
}

/** Wires the webhooks service: calls, the fan-out consumer, the delivery workers and the replay worker. */
export async function startWebhooks({
  config,
  host,
  wrap = {},
}: {
  config: Config
  host: ServiceHost
  wrap?: Partial<WebhooksWrap>
}): Promise<RunningService> {
  const { logger } = host
  const clock = systemClock
  const { post: wrapPost = same, recordEvents: wrapRecordEvents = same } = wrap
  const bus = await connectServiceBus({ service, config, host })
  const storage = await connectStorage({
    url: config.MONGODB_URL,
    database: `${config.PITBOSS_DATABASE_PREFIX}_${service}`,
    logger,
  })
  host.check('nats', () => bus.connected())
  host.check('database', () => storage.ping())
  const { db } = storage
  await ensureIndexes(db, indexes)
  const keyring = await openKeyring(db, config.PITBOSS_MASTER_KEYS)
  await waitForTopology({
    bus,
    consumers: [{ stream: 'EVENTS', name: fanoutConsumer }],
    logger,
    signal: host.stopping,
  })

  const collections = collectionsOf(db)
  const stores = {
    events: createEventStore(collections),
    endpoints: createEndpointStore(collections),
    deliveries: createDeliveryStore(collections),
    replays: createReplayStore(collections),
    parked: createParkedStore(collections),
    rewinds: createRewindStore({ db, clock, newId }),
  }
  const secretBox = createSecretBox(keyring, 'webhook-secret')
  const allowLoopback = config.PITBOSS_ALLOW_LOOPBACK_WEBHOOKS
  const timeScale = createTimeScale(config.PITBOSS_TIME_SCALE)
  const scaleMs = (ms: number) => timeScale.scaleMs(ms)
  const workerId = randomUUID()
  const wake = createWake(bus)
  const slots = createSlots({ totalMax: slotsTotalMax, perOperatorMax: slotsPerOperatorMax })
  const poster = createPostWebhook({ allowLoopback })
  const bodies = createBodyCache(stores.events, bodyCacheCharactersMax)
  const recordEvents = wrapRecordEvents(createRecordEvents({ ...stores, bodies, wake, clock, logger }))
  const leaseOf = (name: string, ttlMs: number) => createLease({ db, name, owner: workerId, ttlMs, clock })

  const dispatcher = startDispatcher({
    ...stores,
    bus,
    workerId,
    makeAttempt: createMakeAttempt({
      post: wrapPost(poster.post),
      openSecret: createOpenSecret(secretBox),
      clock,
    }),
    settleAttempt: createSettleAttempt({ ...stores, scaleMs, random: Math.random }),
    recoverOrphans: createRecoverOrphans({ ...stores, clock, scaleMs, random: Math.random }),
    slots,
    bodies,
    clock,
    logger,
    onAttempt: createMetrics(host.registry, slots),
  })
  const replayWorker = startReplayWorker({
    ...stores,
    wake,
    clock,
    logger,
    lease: leaseOf('replays', replayLeaseTtlMs),
  })
  const fanout = startFanout({
    bus,
    lease: leaseOf('fanout', fanoutLeaseTtlMs),
    handle: createHandleFanoutBatch({ ...stores, recordEvents, clock, logger }),
    logger,
  })
  const deps = {
    ...stores,
    bus,
    db,
    secretBox,
    cursors: createCursorCodec({ keyring }),
    clock,
    newId,
    allowLoopback,
    wake,
    recordEvents,
    logger,
    ringReplays: replayWorker.ring,
  }
  const calls = await serveCalls({
    bus,
    service,
    version,
    logger,
    handlers: [
      ...eventHandlers(deps),
      ...endpointHandlers(deps),
      ...deliveryHandlers(deps),
      ...replayHandlers(deps),
      ...opsHandlers(deps),
    ],
  })

  return {
    async stop() {
      await Promise.all([calls.stop(), fanout.stop(), replayWorker.stop(), dispatcher.stop()])
      await poster.close()
      await bus.close()
      await storage.close()
    },
  }
}

function same<Part>(part: Part): Part {
  return part
}
