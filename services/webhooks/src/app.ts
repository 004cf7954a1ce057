import { appendAudit } from '@pitboss/contracts/calls/auth'
import { randomUUID } from 'node:crypto'
import type { Db } from 'mongodb'
import { createAskApproval } from '@pitboss/bus/ask-approval'
import { connectServiceBus } from '@pitboss/bus/connect-bus'
import { createTailNotes } from '@pitboss/bus/tail-notes'
import { createConsumerMetrics, createStreamMetrics } from '@pitboss/bus/consumer-metrics'
import { handler } from '@pitboss/bus/serve-calls'
import { serveService, serviceVersion } from '@pitboss/bus/serve-service'
import { opsRewriteSeals } from '@pitboss/contracts/calls/seals'
import { webhooksFanout } from '@pitboss/bus/topology'
import { waitForTopology } from '@pitboss/bus/consume-durable'
import { watchConsumer } from '@pitboss/bus/watch-consumer'
import { createIsDenied } from '@pitboss/contracts/address-range'
import type { OutboundSettings } from '@pitboss/outbound/address-guard'
import { createTimeScale } from '@pitboss/runtime/clock'
import { newId } from '@pitboss/runtime/new-id'
import { createSteadyClock } from '@pitboss/runtime/steady-clock'
import type { RunningService, ServiceHost } from '@pitboss/runtime/run-service'
import { connectServiceStorage } from '@pitboss/storage/connect-storage'
import { createAuditOutbox } from '@pitboss/storage/audit-outbox'
import { createCursorCodec } from '@pitboss/storage/cursor'
import { createFiguresStore } from '@pitboss/storage/figures-store'
import { createFoldFigures, figuresLeaseTtlMs, startFigures } from '@pitboss/storage/fold-figures'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { openKeyring } from '@pitboss/storage/open-keyring'
import { createInstanceLease } from '@pitboss/storage/journal/instance-lease'
import { createInstances } from '@pitboss/storage/journal/instances'
import { createLease } from '@pitboss/storage/lease'
import { createConsumerPositions } from '@pitboss/storage/consumer-positions'
import { createRewindStore } from '@pitboss/storage/rewind-store'
import { createRewriteSeals } from '@pitboss/storage/rewrite-seals'
import { startLeasedPoll } from '@pitboss/storage/start-leased-poll'
import { startJobWorkers } from '@pitboss/storage/start-job-workers'
import { shareCopies } from '@pitboss/storage/shared-copies'
import { createSecretBox } from '@pitboss/storage/stored-secrets'
import type { CallsContext, WebhooksContext } from './context.ts'
import { createSlots } from './actions/slots.ts'
import { runCertification } from './actions/run-certification.ts'
import { createAdvanceReplays } from './actions/advance-replays.ts'
import { newHealthChanges } from './actions/change-health.ts'
import { createSecretCipher } from './actions/create-endpoint.ts'
import { readDueLag } from './actions/read-due-lag.ts'
import { createReadAttempts } from './actions/read-attempt-series.ts'
import { createRecordEvents, type RecordEvents } from './actions/record-events.ts'
import { compositionHandlers } from './calls/composed.ts'
import { deliveryHandlers, eventHandlers } from './calls/events.ts'
import { certificationHandlers } from './calls/certifications.ts'
import { endpointHandlers, replayHandlers } from './calls/endpoints.ts'
import { opsHandlers } from './calls/ops.ts'
import { createNotifyWorkers, listenForNotifications } from './clients/notify-workers.ts'
import { createPostWebhook, type PostWebhook } from './clients/post-webhook.ts'
import type { Config } from './config.ts'
import { handleFanoutBatch, startFanout } from './consumers/fanout.ts'
import { createFanoutLateness } from './actions/fanout-lateness.ts'
import { createLatenessNote, createMetrics } from './metrics.ts'
import { collectionsOf } from './storage/collections.ts'
import { auditedCollections, indexes } from './storage/indexes.ts'
import { createDeliveryHistory } from './storage/delivery-history.ts'
import { createDeliveryStore, type DeliveryStore } from './storage/delivery-store.ts'
import { createEndpointStore } from './storage/endpoint-store.ts'
import { type EventLog, openEventLog } from './storage/event-log.ts'
import { createLogTail } from './storage/log-tail.ts'
import { createParkedStore } from './storage/parked-store.ts'
import { createCertificationStore } from './storage/certification-store.ts'
import { createRangeStore, type RangeStore } from './storage/range-store.ts'
import { createReplayStore } from './storage/replay-store.ts'
import { sealedPlaces } from './storage/sealed-places.ts'
import { startLatenessTeller } from './workers/lateness-teller.ts'
import { startDispatcher } from './workers/dispatcher.ts'
import { startHeartbeat } from './workers/heartbeat.ts'

const service = 'webhooks'
const slotsTotalMax = 1024
/** How long a dead replica keeps the others from the replay jobs. */
const replayLeaseTtlMs = 5000
/** While a replay job runs, and while none does: who orders one wakes the worker of his process. */
const [replaysEveryMs, replaysIdleMs] = [500, 5000]
/** A burst of a certification opens 50 connections; more orders wait their turn. */
const certificationsMax = 4
const tailCharactersMax = 32 * 1024 * 1024

/** Parts that a proof may put something around; the product leaves them as they are. */
export type WebhooksWrap = {
  db: (db: Db) => Db
  post: (post: PostWebhook) => PostWebhook
  recordEvents: (record: RecordEvents) => RecordEvents
  events: (log: EventLog) => EventLog
  ranges: (store: RangeStore) => RangeStore
  deliveries: (store: DeliveryStore) => DeliveryStore
}

/** Wires the webhooks service: calls, the fan-out consumer, the delivery workers and the replay worker. */
export async function startWebhooks({
  config,
  host,
  wrap = {},
  attemptTimeoutMs,
  nowMs,
}: {
  config: Config
  host: ServiceHost
  wrap?: Partial<WebhooksWrap>
  attemptTimeoutMs?: number
  /** The monotonic clock by which the consumer is missed. */
  nowMs?: () => number
}): Promise<RunningService> {
  const { logger } = host
  const bus = await connectServiceBus({ service, config, host })
  const storage = await connectServiceStorage({ service, config, host })
  host.check('nats', () => bus.connected())
  const { clock, clockAheadMs } = storage
  const db = wrap.db?.(storage.db) ?? storage.db
  await storage.patiently((own) => ensureIndexes(own, indexes, logger))
  const keyring = await openKeyring(db, config.PITBOSS_MASTER_KEYS)
  const seals = createRewriteSeals({ db, keyring, places: sealedPlaces, logger })
  await seals.reportMissing()
  const rewinds = createRewindStore({ db, clock, newId })
  const recording = createFanoutLateness()
  let holdsFanout = () => false
  const watch = watchConsumer({
    bus,
    consumer: webhooksFanout,
    remake: {
      ...{ positions: createConsumerPositions(db), orders: rewinds.orders },
      ...{ notes: () => holdsFanout(), onBack: recording.forgive },
    },
    logger,
    ...(nowMs === undefined ? {} : { nowMs }),
  })
  host.check(`consumer ${webhooksFanout.config.durable_name}`, () => !watch.isStalled())
  await waitForTopology({
    bus,
    consumers: [{ stream: webhooksFanout.stream, name: webhooksFanout.config.durable_name }],
    logger,
    signal: host.stopping,
  })

  createConsumerMetrics({ registry: host.registry, watch, consumer: webhooksFanout })
  createStreamMetrics({ registry: host.registry, bus })
  const collections = collectionsOf(db)
  const eventLog = await openEventLog(collections)
  const events = wrap.events?.(eventLog) ?? eventLog
  const workerId = randomUUID()
  const timeScale = createTimeScale(config.PITBOSS_TIME_SCALE)
  const outbound: OutboundSettings = {
    allowLoopback: config.PITBOSS_ALLOW_LOOPBACK_WEBHOOKS,
    isDenied: createIsDenied(config, logger),
  }
  const audit = createAuditOutbox({
    db,
    collections: auditedCollections,
    shardKeys: { deliveries: 'webhookId' },
    append: (entries) => bus.call(appendAudit.webhooks, { entries: [...entries] }),
    ...{ clock, newId, logger },
  })
  const steadyMs = createSteadyClock()
  const instances = createInstances({
    ...{ collection: collections.instances, build: serviceVersion, newInstance: randomUUID },
    ...{ now: clock.now, steadyMs },
  })
  const copies = shareCopies({ bus, service, instances, steadyMs, logger })
  const endpoints = createEndpointStore(collections, copies)
  const deliveryStore = createDeliveryStore(collections)
  const deliveries = wrap.deliveries?.(deliveryStore) ?? deliveryStore
  const rangeStore = createRangeStore(collections)
  const ranges = wrap.ranges?.(rangeStore) ?? rangeStore
  const notifyWorkers = createNotifyWorkers(bus)
  const schedule = { clock, random: Math.random, scaleMs: timeScale.scaleMs }
  const notes = createTailNotes({ bus, root: 'webhooks', logger })
  const deps: WebhooksContext = {
    ...{ notes, db, bus, events, endpoints, ranges, deliveries, rewinds, audit, notifyWorkers },
    ...{ ...schedule, logger, newId, outbound },
    tail: createLogTail(events, tailCharactersMax),
    history: createDeliveryHistory({ stored: deliveries, endpoints, ranges, events }),
    replays: createReplayStore(collections),
    certifications: createCertificationStore(collections),
    parked: createParkedStore(collections),
    figures: createFiguresStore(db),
    cursors: createCursorCodec({ keyring }),
    secretCipher: createSecretCipher(createSecretBox(keyring, 'webhook-secret')),
    askApproval: createAskApproval({ bus, service: 'webhooks' }),
    eventEndpointsMax: config.PITBOSS_LIMIT_EVENT_ENDPOINTS,
    replaysMax: config.PITBOSS_LIMIT_ACCOUNT_REPLAYS,
  }
  const leaseOf = (name: string, ttlMs: number) =>
    createLease({ db, name, owner: workerId, ttlMs, clock, clockAheadMs })
  const slots = createSlots({ totalMax: slotsTotalMax })
  const poster = createPostWebhook(outbound, attemptTimeoutMs)
  const heartbeat = startHeartbeat({
    ...{ instances, clockAgrees: storage.clockAgrees, logger },
    hasLeft: (instance) => endpoints.hasLeases(instance),
  })
  const dispatcher = startDispatcher({
    ...deps,
    listen: (onNotification) => listenForNotifications(bus, onNotification),
    heartbeat,
    connection: () => bus.connection(),
    post: wrap.post?.(poster.post) ?? poster.post,
    memory: { healthChanges: newHealthChanges(), successes: new Map() },
    slots,
    onAttempt: createMetrics(host.registry, slots),
  })
  const record = createRecordEvents({ ...deps, onRecorded: dispatcher.onRecorded })
  const recordEvents = wrap.recordEvents?.(record) ?? record
  const replayWorker = startLeasedPoll({
    ...{ event: 'replay.interrupted', level: 'warn', everyMs: replaysEveryMs, logger },
    lease: leaseOf('replays', replayLeaseTtlMs),
    idle: { isIdle: async () => !(await deps.replays.areLeft()), everyMs: replaysIdleMs },
    work: createAdvanceReplays(deps),
  })
  const certifier = startJobWorkers({
    ...{ jobs: deps.certifications, placesMax: certificationsMax, event: 'certification.interrupted' },
    work: (held) => runCertification({ ...deps, post: poster.post }, held),
    ...{ clock, clockAheadMs, logger },
  })
  const figures = startFigures({
    fold: createFoldFigures({ ...deps, readFacts: createReadAttempts(deps) }),
    lease: leaseOf('figures', figuresLeaseTtlMs),
    logger,
  })
  const callDeps: CallsContext = {
    ...deps,
    recordEvents,
    notifyReplayWorker: replayWorker.wake,
    notifyCertifier: certifier.wake,
  }
  const fanout = startFanout({
    bus,
    lease: createInstanceLease({ db, name: 'fanout', isAlive: instances.isAlive }),
    self: heartbeat.self,
    handle: (messages) => handleFanoutBatch(callDeps, recording, messages),
    lateness: recording,
    logger,
  })
  holdsFanout = fanout.holds
  heartbeat.listen({ onChange: fanout.wake, onLost: fanout.wake })
  const teller = startLatenessTeller({
    ...{ bus, by: workerId, clock, logger },
    endpoints: dispatcher.lateness,
    recordingMs: recording.lateMs,
    onMeasured: createLatenessNote(host.registry, () => readDueLag(deps, dispatcher.untaken())),
  })
  const handlers = [
    ...eventHandlers(callDeps),
    ...endpointHandlers(callDeps),
    ...deliveryHandlers(callDeps),
    ...replayHandlers(callDeps),
    ...certificationHandlers(callDeps),
    ...compositionHandlers(callDeps),
    ...opsHandlers(callDeps),
    handler(opsRewriteSeals.webhooks, ({ order, after }) => seals.page({ after, isDry: order.dryRun })),
  ]
  const stopAudit = audit.start()
  const calls = await serveService({
    ...{ bus, service, config, host, clockAheadMs },
    handlers: handlers.map((one) => ({ ...one, run: audit.following(one.run) })),
  })

  return {
    async stop() {
      const parts = [calls, teller, watch, fanout, replayWorker, certifier, dispatcher, figures]
      await Promise.all(parts.map((part) => part.stop()))
      await heartbeat.stop()
      copies.stop()
      notes.stop()
      await stopAudit()
      await poster.close()
      await bus.close()
      await storage.close()
    },
  }
}
