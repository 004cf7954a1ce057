import type { Storage } from '@pitboss/storage/connect-storage'
import { startFigures } from '@pitboss/storage/fold-figures'
import { createInstanceLease } from '@pitboss/storage/journal/instance-lease'
import type { Instances } from '@pitboss/storage/journal/instances'
import { randomUUID } from 'node:crypto'
import type { Registry } from 'prom-client'
import { newHealthChanges } from './actions/settle-attempt.ts'
import type { FanoutLateness } from './actions/record-batch.ts'
import { readAttempts } from './actions/read-endpoints.ts'
import { readDueLag } from './actions/read-status.ts'
import { type RecordEvents, recordEvents } from './actions/record-events.ts'
import { createSlots } from './actions/slots.ts'
import { listenForNotifications } from './clients/notify-workers.ts'
import type { PostWebhook } from './clients/post-webhook.ts'
import { handleFanoutBatch, startFanout } from './consumers/fanout.ts'
import type { CallsContext, WebhooksContext } from './context.ts'
import { createLatenessNote, createMetrics } from './metrics.ts'
import type { WebhooksWrap } from './open-context.ts'
import { startDispatcher } from './workers/dispatcher.ts'
import { startHeartbeat } from './workers/heartbeat.ts'
import { startPublishingDeliveryLag } from './workers/publish-delivery-lag.ts'

const slotsTotalMax = 1024

/** Starts the workers. @returns what calls are given, and what is to be stopped */
export function startWorkers(
  c: WebhooksContext,
  parts: {
    instances: Instances
    storage: Storage
    recording: FanoutLateness
    wrap: WebhooksWrap
    post: PostWebhook
    registry: Registry
  },
) {
  const { db, bus, clock, logger } = c
  const { instances, storage, recording, wrap, post, registry } = parts
  const { clockAgrees, clockAheadMs } = storage
  const slots = createSlots({ totalMax: slotsTotalMax })
  const heartbeat = startHeartbeat({
    ...{ instances, clockAgrees, logger, hasLeft: (instance) => c.endpoints.hasLeases(instance) },
  })
  const dispatcher = startDispatcher({
    ...{ ...c, heartbeat, slots, post: wrap.post(post), connection: () => bus.connection() },
    listen: (onNotification) => listenForNotifications(bus, onNotification),
    memory: { healthChanges: newHealthChanges(), successes: new Map() },
    onAttempt: createMetrics(registry, slots),
  })
  const figures = startFigures({ ...c, clockAheadMs, readFacts: (from) => readAttempts(c, from) })
  const record: RecordEvents = (messages) => recordEvents(c, messages, dispatcher.onRecorded)
  const calls: CallsContext = { ...c, recordEvents: wrap.recordEvents(record) }
  const fanout = startFanout({
    lease: createInstanceLease({ db, name: 'fanout', isAlive: instances.isAlive }),
    ...{ bus, self: heartbeat.self, lateness: recording, logger },
    handle: (messages) => handleFanoutBatch(calls, recording, messages),
  })
  heartbeat.listen({ onChange: fanout.wake, onLost: fanout.wake })
  const deliveryLag = startPublishingDeliveryLag({
    ...{ bus, by: randomUUID(), clock, logger, endpoints: dispatcher.lateness },
    recordingMs: recording.lateMs,
    onMeasured: createLatenessNote(registry, () => readDueLag(c, dispatcher.untaken())),
  })

  return {
    calls,
    holdsFanout: fanout.holds,
    async stop() {
      await Promise.all([deliveryLag, fanout, dispatcher, figures].map((part) => part.stop()))
    },
    retire: heartbeat.stop,
  }
}
