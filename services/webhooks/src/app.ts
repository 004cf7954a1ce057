import { randomUUID } from 'node:crypto'
import { connectServiceBus } from '@pitboss/bus/connect-bus'
import { serveCalls } from '@pitboss/bus/serve-calls'
import { webhooksFanout } from '@pitboss/bus/topology'
import { waitForTopology } from '@pitboss/bus/consume-durable'
import { systemClock, createTimeScale } from '@pitboss/runtime/clock'
import { newId } from '@pitboss/runtime/new-id'
import type { RunningService, ServiceHost } from '@pitboss/runtime/run-service'
import { connectServiceStorage } from '@pitboss/storage/connect-storage'
import { createCursorCodec } from '@pitboss/storage/cursor'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { openKeyring } from '@pitboss/storage/keyring'
import { createLease } from '@pitboss/storage/lease'
import { createRewindStore } from '@pitboss/storage/rewind-store'
import { createSecretBox } from '@pitboss/storage/stored-secrets'
import { createAdvanceReplays } from './actions/advance-replays.ts'
import { createCancelReplay } from './actions/cancel-replay.ts'
import { createChangeEndpoint } from './actions/change-endpoint.ts'
import { createClaimDeliveries } from './actions/claim-deliveries.ts'
import { createCreateEndpoint } from './actions/create-endpoint.ts'
import { createSecretCipher } from './actions/encrypt-secret.ts'
import { createOpenEndpointView } from './actions/endpoint-view.ts'
import { createLeaseEndpoints } from './actions/lease-endpoints.ts'
import { createMakeAttempt } from './actions/make-attempt.ts'
import { createMarkDue } from './actions/mark-due.ts'
import { createParkedMessages } from './actions/parked-messages.ts'
import { createReadDeliveries } from './actions/read-deliveries.ts'
import { createReadEndpoints } from './actions/read-endpoints.ts'
import { createReadEvents } from './actions/read-events.ts'
import { createReadReplays } from './actions/read-replays.ts'
import { createReadStatus } from './actions/read-status.ts'
import { createRecordEvents, type RecordEvents } from './actions/record-events.ts'
import { createRecordSuccesses } from './actions/record-successes.ts'
import { createRecoverOrphans } from './actions/recover-orphans.ts'
import { createRetryDelivery } from './actions/retry-delivery.ts'
import { createRewindFanout } from './actions/rewind-fanout.ts'
import { createSettleAttempt } from './actions/settle-attempt.ts'
import { createStartReplay } from './actions/start-replay.ts'
import { deliveryHandlers } from './calls/deliveries.ts'
import { endpointHandlers } from './calls/endpoints.ts'
import { eventHandlers } from './calls/events.ts'
import { opsHandlers } from './calls/ops.ts'
import { replayHandlers } from './calls/replays.ts'
import { createNotifyWorkers, listenForNotifications } from './clients/notify-workers.ts'
import { createPostWebhook, type PostWebhook } from './clients/post-webhook.ts'
import type { Config } from './config.ts'
import { fanoutLeaseTtlMs, startFanout } from './consumers/fanout.ts'
import { createHandleFanoutBatch } from './consumers/handle-fanout-batch.ts'
import { createMetrics } from './metrics.ts'
import { createBodyCache } from './storage/body-cache.ts'
import { collectionsOf, indexes } from './storage/collections.ts'
import { createDeliveryStore } from './storage/delivery-store.ts'
import { createEndpointStore } from './storage/endpoint-store.ts'
import { createEventStore } from './storage/event-store.ts'
import { createParkedStore } from './storage/parked-store.ts'
import { createReplayStore } from './storage/replay-store.ts'
import { startDispatcher } from './workers/dispatcher.ts'
import { replayLeaseTtlMs, startReplayWorker } from './workers/replay-worker.ts'
import { createSlots } from './workers/slots.ts'

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
  const bus = await connectServiceBus({ service, config, host })
  const storage = await connectServiceStorage({ service, config, host })
  host.check('nats', () => bus.connected())
  const { db, clockAheadMs } = storage
  await ensureIndexes(db, indexes, logger)
  const keyring = await openKeyring(db, config.PITBOSS_MASTER_KEYS)
  await waitForTopology({
    bus,
    consumers: [{ stream: webhooksFanout.stream, name: webhooksFanout.config.durable_name }],
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
  const cursors = createCursorCodec({ keyring })
  const secretCipher = createSecretCipher(createSecretBox(keyring, 'webhook-secret'))
  const allowLoopback = config.PITBOSS_ALLOW_LOOPBACK_WEBHOOKS
  const timeScale = createTimeScale(config.PITBOSS_TIME_SCALE)
  const settling = { scaleMs: (ms: number) => timeScale.scaleMs(ms), random: Math.random }
  const workerId = randomUUID()
  const leaseOf = (name: string, ttlMs: number) => createLease({ db, name, owner: workerId, ttlMs, clock })
  const slots = createSlots({ totalMax: slotsTotalMax, perOperatorMax: slotsPerOperatorMax })
  const poster = createPostWebhook({ allowLoopback })
  const bodies = createBodyCache(stores.events, bodyCacheCharactersMax)
  const notifyWorkers = createNotifyWorkers(bus)
  const common = { ...stores, clock, logger }
  const record = createRecordEvents({ ...common, bodies, notifyWorkers })
  const recordEvents = wrap.recordEvents?.(record) ?? record
  const markDue = createMarkDue({ ...common, notifyWorkers })
  const parkedMessages = createParkedMessages({ ...common, recordEvents })

  const dispatcher = startDispatcher({
    listen: (onNotification) => listenForNotifications(bus, onNotification),
    leaseEndpoints: createLeaseEndpoints({ ...common, workerId }),
    openEndpointView: createOpenEndpointView(common),
    claimDeliveries: createClaimDeliveries({ ...stores, bodies }),
    makeAttempt: createMakeAttempt({
      post: wrap.post?.(poster.post) ?? poster.post,
      secretCipher,
      clock,
      logger,
    }),
    settleAttempt: createSettleAttempt({ ...common, ...settling }),
    recoverOrphans: createRecoverOrphans({ ...common, ...settling }),
    recordSuccesses: createRecordSuccesses(common),
    slots,
    clock,
    logger,
    onAttempt: createMetrics(host.registry, slots),
  })
  const replayWorker = startReplayWorker({
    advanceReplays: createAdvanceReplays({ ...common, markDue }),
    lease: leaseOf('replays', replayLeaseTtlMs),
    logger,
  })
  const fanout = startFanout({
    bus,
    lease: leaseOf('fanout', fanoutLeaseTtlMs),
    handle: createHandleFanoutBatch({ ...common, recordEvents, parkedMessages }),
    logger,
  })

  const replaying = { ...common, db, newId, notifyReplayWorker: replayWorker.wake }
  const readEvents = createReadEvents({ ...common, cursors })
  const readDeliveries = createReadDeliveries({ ...common, cursors })
  const retryDelivery = createRetryDelivery({ ...common, markDue })
  const startReplay = createStartReplay(replaying)
  const readReplays = createReadReplays({ ...stores, cursors })
  const calls = await serveCalls({
    bus,
    service,
    version,
    clockAheadMs,
    logger,
    handlers: [
      ...eventHandlers({ readEvents }),
      ...endpointHandlers({
        readEndpoints: createReadEndpoints({ ...stores, cursors }),
        createEndpoint: createCreateEndpoint({ ...common, db, secretCipher, newId, allowLoopback }),
        changeEndpoint: createChangeEndpoint({ ...common, secretCipher, newId, allowLoopback, markDue }),
      }),
      ...deliveryHandlers({ readDeliveries, retryDelivery }),
      ...replayHandlers({ startReplay, cancelReplay: createCancelReplay(replaying), readReplays }),
      ...opsHandlers({
        readDeliveries,
        retryDelivery,
        startReplay,
        readReplays,
        parkedMessages,
        rewindFanout: createRewindFanout({ ...stores, bus }),
        readStatus: createReadStatus(common),
        readEvents,
      }),
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
