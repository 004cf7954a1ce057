import { randomUUID } from 'node:crypto'
import type { Scope } from '@pitboss/contracts/caller'
import { newId } from '@pitboss/runtime/new-id'
import { connectStorage } from '@pitboss/storage/connect-storage'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { holdIsolation, linesFor } from '@pitboss/testing/hold-isolation'
import { withEngines } from '@pitboss/testing/with-engines'
import pino from 'pino'
import t from 'tap'
import { freshHealth } from '../../src/rules/endpoint-health.ts'
import { createBodyCache } from '../../src/storage/body-cache.ts'
import { collectionsOf, indexes } from '../../src/storage/collections.ts'
import { createDeliveryClaims } from '../../src/storage/delivery-claims.ts'
import { createDeliveryMoves } from '../../src/storage/delivery-moves.ts'
import { createDeliveryQueue } from '../../src/storage/delivery-queue.ts'
import { createDeliveryStore } from '../../src/storage/delivery-store.ts'
import { never } from '../../src/storage/documents.ts'
import { createEndpointStore } from '../../src/storage/endpoint-store.ts'
import { createEventStore } from '../../src/storage/event-store.ts'
import { createParkedStore } from '../../src/storage/parked-store.ts'
import { createReplayStore } from '../../src/storage/replay-store.ts'

type Ids = { webhookId: string; endedId: string; waitingId: string; eventId: string; replayId: string }

const owner: Scope = { operatorId: randomUUID(), environment: 'SANDBOX' }
const now = new Date('2026-11-20T09:10:00.000Z')
const hour = { from: new Date('2026-11-20T09:00:00.000Z'), to: new Date('2026-11-20T10:00:00.000Z') }

const engines = await withEngines(t)
const storage = await connectStorage({
  url: engines.mongodbUrl,
  database: `${engines.databasePrefix}_webhooks`,
  logger: pino({ level: 'silent' }),
})
t.teardown(() => storage.close())
const { db } = storage
await ensureIndexes(db, indexes)
const collections = collectionsOf(db)
const deliveries = createDeliveryStore(collections)
const endpoints = createEndpointStore(collections)
const events = createEventStore(collections)
const replays = createReplayStore(collections)
const ids = newIds()
await makeThings()

const { scoped, internal, table } = linesFor<Ids>()
const all = { types: null, from: null, to: null }
const raw = 'a collection itself; only this folder gets at it'
const made = 'makes records with a scope; their ids are ours or follow from what is theirs'
const worker = 'a worker, about an endpoint of which it holds the lease'
const found = 'of an endpoint that was found under its scope, or by the worker that holds its lease'
const job = 'of a replay job that was found under its scope, or by the worker of all jobs'
const fanout = 'the fan-out of events, which works for every account'
const operations = 'for operations, which look over every account'
const workers = "about the service's own workers, which belong to no account"

const queueLines = {
  create: internal(made),
  existing: internal('ids that follow from an endpoint and an event of the same account'),
  statusesOfEvents: internal(fanout),
  upcoming: internal(worker),
  upcomingOf: internal(worker),
  unsettledOf: internal(worker),
  upcomingIn: internal(worker),
  oldestDue: internal(found),
  inFlight: internal(found),
  firstDueAt: internal(operations),
}
const claimLines = {
  claim: internal(worker),
  complete: internal(worker),
  recoverOrphans: internal(worker),
}
const moveLines = {
  pullBacklog: internal(worker),
  hold: internal(found),
  release: internal(found),
  hasHeld: internal(worker),
  cancelAll: internal(found),
  reopen: scoped((scope, ids) =>
    deliveries.reopen(scope, { _id: ids.endedId, status: 'FAILED', attemptCount: 0 }, now),
  ),
  pullForward: scoped((scope, { waitingId }) =>
    deliveries.pullForward(
      scope,
      { _id: waitingId, attemptCount: 0, nextAttemptAt: now, createdAt: now },
      now,
    ),
  ),
  replayAgain: internal(job),
  cancelReplay: internal(job),
  countReplay: internal(job),
}

await holdIsolation(t, {
  db,
  owner,
  ids,
  neverMade: newIds(),
  folder: new URL('../../src/storage/', import.meta.url),
  stores: {
    collectionsOf: table(collections, {
      ...{
        events: internal(raw),
        endpoints: internal(raw),
        deliveries: internal(raw),
        replays: internal(raw),
      },
      ...{ parked: internal(raw), workers: internal(raw) },
    }),
    createBodyCache: table(createBodyCache(events, 1000), {
      put: internal(fanout),
      of: internal('bodies of events that are about to be sent to endpoints they are for'),
    }),
    createDeliveryClaims: table(createDeliveryClaims(collections), claimLines),
    createDeliveryMoves: table(createDeliveryMoves(collections), moveLines),
    createDeliveryQueue: table(createDeliveryQueue(collections), queueLines),
    createDeliveryStore: table(deliveries, {
      ...queueLines,
      ...claimLines,
      ...moveLines,
      find: scoped((scope, { endedId }) => deliveries.find(scope, endedId)),
      read: internal(operations),
      list: scoped((scope, { webhookId }) => deliveries.list(scope, { webhookId }, 10)),
      listAnywhere: internal(operations),
      statusCounts: internal(operations),
    }),
    createEndpointStore: table(endpoints, {
      read: internal(operations),
      readTogether: internal(worker),
      insert: internal(made),
      known: scoped((scope, { webhookId }) => endpoints.known(scope, webhookId)),
      find: scoped((scope, { webhookId }) => endpoints.find(scope, webhookId)),
      list: scoped((scope) => endpoints.list(scope, null, 10)),
      count: scoped((scope) => endpoints.count(scope)),
      targets: internal(fanout),
      change: scoped((scope, { webhookId }) =>
        endpoints.change(scope, webhookId, () => ({ $set: { description: 'changed' } })),
      ),
      noteSuccesses: internal(worker),
      notePulled: internal(worker),
      workCounts: internal(worker),
      lowerDue: internal(found),
      due: internal(worker),
      waiting: internal(operations),
      lease: internal(worker),
      release: internal(worker),
      abandon: internal(worker),
      countPaused: internal(operations),
      beat: internal(workers),
      aliveWorkers: internal(workers),
      retire: internal(workers),
    }),
    createEventStore: table(events, {
      recorded: internal(fanout),
      record: internal('the fan-out, which gives each event the scope that its message names'),
      lastSeq: scoped((scope) => events.lastSeq(scope)),
      seqBefore: scoped((scope) => events.seqBefore(scope, hour.to)),
      page: scoped((scope) => events.page(scope, { ...all, ...hour }, 0, 10)),
      headers: scoped((scope) => events.headers(scope, { ...all, types: ['round.started'] }, 0, 10)),
      find: scoped((scope, { eventId }) => events.find(scope, eventId)),
      bodies: internal('bodies of events that are about to be sent to endpoints they are for'),
      ofRound: internal(operations),
    }),
    createParkedStore: table(createParkedStore(collections), {
      ...{ park: internal(fanout), list: internal(operations), read: internal(operations) },
      ...{ remove: internal(operations), setError: internal(operations), count: internal(operations) },
    }),
    createReplayStore: table(replays, {
      insert: internal(made),
      read: internal(operations),
      find: scoped((scope, { webhookId, replayId }) => replays.find(scope, webhookId, replayId)),
      list: scoped((scope, { webhookId }) => replays.list(scope, webhookId, null, 10)),
      running: internal('the worker of replay jobs, which works for every account'),
      uncounted: internal('the worker of replay jobs, which works for every account'),
      count: internal(job),
      change: scoped((scope, { replayId }) => replays.change(scope, replayId, { status: 'CANCELLED' })),
    }),
  },
  others: ['newDocument', 'orderOf'],
})

function newIds(): Ids {
  const [endedId, waitingId] = [newId('dlv'), newId('dlv')]
  return { webhookId: newId('whk'), endedId, waitingId, eventId: newId('evt'), replayId: newId('rpl') }
}

/**
 * An endpoint of the owner with an event, a delivery of it that failed, one that waits, and a replay job
 * under way.
 */
async function makeThings(): Promise<void> {
  const { webhookId, endedId, waitingId, eventId, replayId } = ids
  await endpoints.insert({
    ...{ _id: webhookId, ...owner, version: 1, url: 'https://hooks.example/', description: null, events: [] },
    ...{ secrets: [], health: freshHealth, heldRule: null, createdAt: now, deletedAt: null, dueAt: never },
    ...{ wakes: 0, leaseOwner: null, leaseToken: 0 },
  })
  const event = {
    type: 'round.started',
    ...{ _id: eventId, createdAt: now, recordedAt: now, body: '{"the":"owners"}' },
    ...{ roundId: newId('rnd'), targets: [webhookId] },
  } as const
  await events.record([{ scope: owner, fresh: [event] }])
  const delivery = { ...owner, webhookId, eventId, eventType: 'round.started', lane: 'fresh' } as const
  await deliveries.create([
    { _id: endedId, ...delivery, createdAt: now },
    { _id: waitingId, ...delivery, createdAt: now },
  ])
  await collections.deliveries.updateOne({ _id: endedId }, { $set: { status: 'FAILED', dueAt: never } })
  await replays.insert({
    ...{ _id: replayId, ...owner, webhookId, status: 'RUNNING', ...hour, types: [], only: 'all', matched: 1 },
    ...{ created: 0, delivered: 0, failed: 0, doneSeq: 0, endSeq: 1, selected: false },
    ...{ createdAt: now, finishedAt: null },
  })
}
