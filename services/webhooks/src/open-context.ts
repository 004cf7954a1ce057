import { randomUUID } from 'node:crypto'
import { createAskApproval } from '@pitboss/bus/ask-approval'
import { serviceVersion } from '@pitboss/bus/serve-service'
import { createTailNotes } from '@pitboss/bus/tail-notes'
import { createIsDenied } from '@pitboss/contracts/address-range'
import { appendAudit } from '@pitboss/contracts/calls/auth'
import { createCap } from '@pitboss/runtime/cap'
import { createTimeScale } from '@pitboss/runtime/clock'
import { newId } from '@pitboss/runtime/new-id'
import { createSteadyClock } from '@pitboss/runtime/steady-clock'
import { createAuditOutbox } from '@pitboss/storage/audit-outbox'
import { createCursorCodec } from '@pitboss/storage/cursor'
import { createFiguresStore } from '@pitboss/storage/figures-store'
import { createInstances } from '@pitboss/storage/journal/instances'
import type { Keyring } from '@pitboss/storage/keyring'
import { createRewindStore } from '@pitboss/storage/rewind-store'
import { shareCopies } from '@pitboss/storage/shared-copies'
import { createSecretBox } from '@pitboss/storage/stored-secrets'
import type { Db } from 'mongodb'
import { audited } from './all-wings.ts'
import { createSecretCipher } from './actions/create-endpoint.ts'
import type { PostWebhook } from './clients/post-webhook.ts'
import type { Config } from './config.ts'
import type { WebhooksContext } from './context.ts'
import type { RecordEvents } from './actions/record-events.ts'
import { collectionsOf } from './storage/collections.ts'
import { createDeliveryHistory } from './storage/delivery-history.ts'
import { createDeliveryStore, type DeliveryStore } from './storage/delivery-store.ts'
import { createEndpointStore } from './storage/endpoint-store.ts'
import { type EventLog, openEventLog } from './storage/event-log.ts'
import { createLogTail } from './storage/log-tail.ts'
import { createParkedStore } from './storage/parked-store.ts'
import { createRangeStore, type RangeStore } from './storage/range-store.ts'

const service = 'webhooks'
const tailCharactersMax = 32 * 1024 * 1024
const endpointsMax = 1000

const same = <Part>(part: Part): Part => part
/** Parts that a proof puts something around; the product leaves them as they are. */
export const unwrapped = {
  db: same<Db>,
  post: same<PostWebhook>,
  recordEvents: same<RecordEvents>,
  events: same<EventLog>,
  ranges: same<RangeStore>,
  deliveries: same<DeliveryStore>,
}
export type WebhooksWrap = typeof unwrapped

type Parts = Pick<WebhooksContext, 'bus' | 'db' | 'clock' | 'logger'> & {
  readonly config: Config
  readonly keyring: Keyring
  readonly wrap: WebhooksWrap
}

/** Opens the stores and clients of the service. Its indexes have to be there. */
export async function openContext({ config, keyring, wrap, ...given }: Parts) {
  const { bus, db, clock, logger } = given
  const collections = collectionsOf(db)
  const isDenied = createIsDenied(config, logger)
  const steadyMs = createSteadyClock()
  const instances = createInstances({
    ...{ collection: collections.instances, build: serviceVersion, slot: config.PITBOSS_SLOT ?? null },
    ...{ newInstance: randomUUID, now: clock.now, steadyMs },
  })
  const copies = shareCopies({ bus, service, instances, steadyMs, logger })
  const events = wrap.events(await openEventLog(collections))
  const endpoints = createEndpointStore(collections, copies)
  const deliveries = wrap.deliveries(createDeliveryStore(collections))
  const ranges = wrap.ranges(createRangeStore(collections))
  const c: WebhooksContext = {
    ...{ ...given, newId, random: Math.random, events, endpoints, ranges, deliveries },
    tail: createLogTail(events, tailCharactersMax),
    history: createDeliveryHistory({ stored: deliveries, endpoints, ranges, events }),
    parked: createParkedStore(collections),
    rewinds: createRewindStore({ db, clock, newId }),
    figures: createFiguresStore(db),
    audit: createAuditOutbox({
      ...{ db, collections: audited, shardKeys: { deliveries: 'webhookId' } },
      append: (entries) => bus.call(appendAudit.webhooks, { entries: [...entries] }),
      ...{ clock, newId, logger },
    }),
    cursors: createCursorCodec({ keyring }),
    secretCipher: createSecretCipher(createSecretBox(keyring, 'webhook-secret')),
    notes: createTailNotes({ bus, root: 'webhooks', logger }),
    scaleMs: createTimeScale(config.PITBOSS_TIME_SCALE).scaleMs,
    outbound: { allowLoopback: config.PITBOSS_ALLOW_LOOPBACK_WEBHOOKS, isDenied },
    askApproval: createAskApproval({ bus, service }),
    endpointsCap: createCap({
      ...{ count: endpoints.count, max: endpointsMax },
      message: `An account can have ${endpointsMax} endpoints.`,
    }),
    eventEndpointsMax: config.PITBOSS_LIMIT_EVENT_ENDPOINTS,
  }
  return { c, instances, copies }
}
