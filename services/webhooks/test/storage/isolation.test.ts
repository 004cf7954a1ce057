import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Scope } from '@pitboss/contracts/caller'
import { newId } from '@pitboss/runtime/new-id'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { exactReads } from '@pitboss/testing/exact-reads'
import { holdIsolation, linesFor } from '@pitboss/testing/hold-isolation'
import { openTestDatabase } from '@pitboss/testing/open-test-database'
import { sampleAuditEntry } from '@pitboss/testing/sample-audit-entry'
import t from 'tap'
import { freshHealth } from '../../src/rules/endpoint-health.ts'
import { collectionsOf, never } from '../../src/storage/collections.ts'
import { indexes } from '../../src/all-wings.ts'
import { createDeliveryClaims } from '../../src/storage/delivery-claims.ts'
import { createDeliveryMoves } from '../../src/storage/delivery-moves.ts'
import { createDeliveryStore } from '../../src/storage/delivery-store.ts'
import { createEndpointStore } from '../../src/storage/endpoint-store.ts'
import { openEventLog } from '../../src/storage/event-log.ts'
import { createDeliveryHistory } from '../../src/storage/delivery-history.ts'
import { createLateDeliveries } from '../../src/storage/late-deliveries.ts'
import { createLogTail } from '../../src/storage/log-tail.ts'
import { newDocument } from '../../src/storage/new-delivery.ts'
import { createRangeStore } from '../../src/storage/range-store.ts'
import { openFirstEvents } from '../../src/storage/first-events.ts'
import { createParkedStore } from '../../src/storage/parked-store.ts'
import { newProgress } from '@pitboss/contracts/certification/progress'
import { createJobStore } from '@pitboss/storage/job-store'
import type { CertificationDocument } from '../../src/wings/certifications/wing.ts'
import { createReplayStore } from '../../src/wings/replays/storage/replay-store.ts'
import { shardedWebhooks } from '../fixtures/sharded-webhooks.ts'

type Ids = Record<
  'webhookId' | 'endedId' | 'waitingId' | 'eventId' | 'roundId' | 'replayId' | 'certificationId',
  string
>

const owner: Scope = { operatorId: randomUUID(), environment: 'SANDBOX' }
const hourMs = 3_600_000
// of today: the engine removes what is older than its collection keeps
const now = new Date()
const from = new Date(now.getTime() - (now.getTime() % hourMs))
const hour = { from, to: new Date(from.getTime() + hourMs) }

const db = await openTestDatabase(t)
await ensureIndexes(db, indexes)
const sharded = shardedWebhooks(db)
const collections = collectionsOf(sharded)
const deliveries = createDeliveryStore(collections)
const endpoints = createEndpointStore(collections, exactReads)
const ids = newIds()
await makeFirstEvent()
const events = await openEventLog(collections)
const firstEvents = await openFirstEvents(collections.events)
const replays = createReplayStore(sharded)
const ranges = createRangeStore(collections)
const history = createDeliveryHistory({ stored: deliveries, endpoints, ranges, events })
const late = createLateDeliveries({ endpoints, ranges, events })
const certificationJobs = '../../../libs/storage/src/certification-jobs'
const certifications = createJobStore(sharded.collection<CertificationDocument>('certifications'), 'cases')
await makeThings()

const { scoped, internal, table } = linesFor<Ids>()
const all = { types: null, from: null, to: null }
/**
 * Says which actions (or files of storage/) call a method without a scope, and where the scope comes from.
 */
const by = (callers: string, scopeFrom: string) => internal(`${callers}: ${scopeFrom}`)
const raw = internal('a collection itself, which only this folder opens and passes around')
const leased = 'the endpoint is under the lease of this worker, which works for every account'
const everyAccount = 'a worker of every account, and nothing it reads leaves the process'
const jobWorkers = '../../../libs/storage/src/start-job-workers'
const operations = 'an order of operations, which look over every account'
const ofReplays = (file: string) => `wings/replays/actions/${file}`
const advances = ofReplays('advance-replays')
const orders = ofReplays('order-replays')

const queueLines = {
  createOne: by('change-endpoint', 'a delivery of an endpoint that was found under a scope'),
  insertAbsent: by(
    `take-over-passage, store-passing, ${advances}, read-deliveries`,
    'each delivery bears the scope of its event, or is an item that was found under a scope or of a job',
  ),
  existing: by(
    `${advances}, storage/delivery-history`,
    'ids derive from an endpoint and an event of one scope, or are of items that were found for the caller',
  ),
  upcoming: by('endpoint-view', leased),
  probe: by(
    'send-due, read-deliveries',
    'the endpoint is under lease, or of a delivery that was found under the scope of the caller',
  ),
  inFlight: by('read-deliveries', 'the endpoint of a delivery that was found under the scope of the caller'),
  firstDueAt: by('read-status', operations),
}
const claimLines = {
  claim: by('send-due', leased),
  complete: by('settle-attempt', 'a delivery that this worker has claimed under its lease'),
  recoverOrphans: by('run-endpoint', leased),
}
const entry = sampleAuditEntry()
const moveLines = {
  pullBacklog: by('endpoint-view', leased),
  hold: by('change-endpoint, endpoint-view', 'the endpoint was found under a scope, or is under lease'),
  release: by('change-endpoint, endpoint-view', 'the endpoint was found under a scope, or is under lease'),
  hasHeld: by('endpoint-view', leased),
  cancelAll: by('change-endpoint, endpoint-view', 'the endpoint was found under a scope, or is under lease'),
  cancelTypes: by('endpoint-view', 'the endpoint was found under a scope, or is under lease'),
  cancelWaiting: by('send-due', leased),
  reopen: scoped((scope, ids) =>
    deliveries.reopen(
      scope,
      { _id: ids.endedId, webhookId: ids.webhookId, status: 'FAILED', attemptCount: 0 },
      now,
      entry,
    ),
  ),
  pullForward: scoped((scope, { waitingId, webhookId }) =>
    deliveries.pullForward(scope, { _id: waitingId, webhookId, attemptCount: 0 }, now, entry),
  ),
  replayAgain: by(advances, 'ids that advance-replays read in the scope of the job'),
  cancelReplay: by(`${orders}, ${advances}`, 'a job found under a scope, or any job for its worker'),
  countReplay: by(orders, 'a job found under a scope, or any job for its worker or for operations'),
}
const stores = {
  collectionsOf: table(collections, {
    log: raw,
    events: raw,
    endpoints: raw,
    deliveries: raw,
    parked: raw,
    ranges: raw,
    instances: raw,
  }),
  createDeliveryClaims: table(createDeliveryClaims(collections), claimLines),
  createDeliveryMoves: table(createDeliveryMoves(collections), moveLines),
  createDeliveryStore: table(deliveries, {
    ...queueLines,
    ...claimLines,
    ...moveLines,
    find: scoped((scope, { endedId }) => deliveries.find(scope, endedId)),
    read: by('storage/delivery-history', operations),
    list: scoped((scope, { webhookId }) => deliveries.list(scope, { webhookId }, 10)),
    ofEvents: scoped((scope, { eventId }) => deliveries.ofEvents(scope, [eventId], 10)),
    health: scoped((scope) => deliveries.health(scope, hour.from, 10)),
    attemptedSince: by('storage/delivery-history', everyAccount),
    countHeld: by('calls/endpoints', 'an endpoint that was found under the scope of the caller'),
    statusCounts: by('storage/delivery-history', operations),
  }),
  createEndpointStore: table(endpoints, {
    read: by(orders, operations),
    readTogether: by('endpoint-view', leased),
    insert: by('create-endpoint', 'the document bears the scope of the caller'),
    known: scoped((scope, { webhookId }) => endpoints.known(scope, webhookId)),
    find: scoped((scope, { webhookId }) => endpoints.find(scope, webhookId)),
    list: scoped((scope) => endpoints.list(scope, null, 10)),
    count: scoped((scope) => endpoints.count(scope)),
    ofScope: scoped((scope) => endpoints.ofScope(scope)),
    dropTargets: by('change-endpoint', 'an endpoint that it has changed; reaches no database'),
    targets: by('record-events', 'operators of the events of the batch; newEvent compares the whole scope'),
    change: scoped((scope, { webhookId }) =>
      endpoints.change(scope, webhookId, () => ({ $set: { description: 'changed' } })),
    ),
    noteSuccesses: by('settle-attempt', 'endpoints to which this worker delivered under its lease'),
    notePulled: by('endpoint-view', leased),
    notePruned: by('endpoint-view', 'the endpoint was found under a scope, or is under lease'),
    countWork: by('clients/notify-workers', 'an endpoint found under a scope, or of a job'),
    page: by('share-endpoints', everyAccount),
    summaries: by('share-endpoints', everyAccount),
    take: by('share-endpoints', everyAccount),
    release: by('run-endpoint', leased),
    close: by('run-endpoint', leased),
    forgetNarrowings: by('run-endpoint', leased),
    noteLate: by('run-endpoint', leased),
    late: scoped((scope) => endpoints.late(scope)),
    ofIds: scoped((scope, { webhookId }) => endpoints.ofIds(scope, [webhookId])),
    hasLeases: by('./start-workers', everyAccount),
    countPaused: by('read-status', operations),
    openBreakers: by('read-status', 'a number and ids for a metric without them, over every account'),
  }),
  openEventLog: table(events, {
    append: by('record-events', 'each event bears the scope that its subject and its envelope name'),
    endOf: scoped((scope) => events.endOf(scope)),
    endOfFirst: scoped((scope) => events.endOfFirst(scope)),
    headersOf: by(
      'storage/delivery-history, calls/ops',
      'the items that it looks for bear the scope of the caller',
    ),
    madeAtInstant: by('storage/delivery-history', 'what it finds is compared with the scope of the caller'),
    seqBefore: scoped((scope) => events.seqBefore(scope, hour.to)),
    lastOf: scoped((scope) => events.lastOf(scope)),
    standing: scoped(async (scope) => {
      const read = { seq: 2, id: newId('evt'), at: hour.to.getTime() }
      return events.standing(scope, read, await events.lastOf(scope))
    }),
    readAfter: scoped((scope) => events.readAfter(scope, 0, 10, { ...all, ...hour })),
    headersAfter: scoped((scope) => events.headersAfter(scope, 0, 10, { ...all, types: ['round.started'] })),
    newestFor: scoped((scope, { webhookId }) =>
      toArray(events.newestFor({ ...scope, webhookId, afterSeq: 0 }, null, null)),
    ),
    countFor: scoped((scope, { webhookId }) => events.countFor({ ...scope, webhookId, afterSeq: 0 }, [], 10)),
    find: scoped((scope, { eventId }) => events.find(scope, eventId)),
    bodies: scoped((scope, { eventId }) => events.bodies(scope, [eventId])),
    ofRound: scoped((scope, { roundId }) => events.ofRound(scope, roundId, 10)),
  }),
  openFirstEvents: table(firstEvents, {
    endOf: scoped((scope) => firstEvents.endOf(scope)),
    seqBefore: scoped((scope) => firstEvents.seqBefore(scope, hour.from)),
    readAfter: scoped((scope) => firstEvents.readAfter(scope, 0, 10, { ...all, ...hour })),
    beginningWith: by('storage/event-log', 'what it finds is compared with the scope of the caller'),
    ofIds: by('storage/event-log', 'what it finds is compared with the scope of the caller'),
    ofRound: by('storage/event-log', 'what it finds is compared with the scope of the caller'),
  }),
  createRangeStore: table(ranges, {
    endOf: by(`take-over-passage, ${advances}`, leased),
    insert: by('store-passing', leased),
    passing: by(
      'storage/delivery-history',
      'the endpoint is a target of an event of the scope of the caller',
    ),
    between: by(advances, 'the endpoint of a job, found under a scope'),
    newestFirst: by('storage/delivery-history', 'the filter names the scope of the caller'),
    latestStored: by('storage/delivery-history', operations),
    madeAt: scoped((scope) => ranges.madeAt(scope, [now])),
    hasItems: scoped((scope) => ranges.hasItems(scope)),
    storedSince: by('storage/delivery-history', everyAccount),
    removeAfter: by('take-over-passage', leased),
  }),
  createDeliveryHistory: table(history, {
    find: scoped((scope, { endedId }) => history.find(scope, endedId)),
    read: by('read-deliveries', operations),
    list: scoped((scope, { webhookId }) => history.list(scope, { webhookId }, 10)),
    ofEvents: scoped((scope, { eventId }) => history.ofEvents(scope, [eventId], 10)),
    health: scoped((scope) => history.health(scope, hour.from, 10)),
    attemptedSince: by('read-endpoints', everyAccount),
    statusCounts: by('read-status', operations),
  }),
  createLateDeliveries: table(late, {
    list: scoped((scope, { webhookId }) => allOf(late.list(scope, { webhookId }, null))),
    ofEvents: by('storage/delivery-history', 'an event names the endpoints of its scope alone'),
    count: scoped((scope) => late.count(scope, 10)),
  }),
  createLogTail: table(createLogTail(events, 1000), {
    put: by('share-endpoints', 'events that were just recorded; nobody outside reads them here'),
    readAfter: by('pass-events', leased),
  }),
  createParkedStore: table(createParkedStore(collections), {
    park: by('record-batch', 'the fan-out, of a message that names no account for certain'),
    list: by('calls/ops', operations),
    read: by('record-batch', operations),
    remove: by('record-batch', operations),
    setError: by('record-batch', operations),
    count: by('read-status', operations),
  }),
  createReplayStore: table(replays, {
    insert: by(orders, 'the document bears the scope of an endpoint that was found under a scope'),
    read: by(orders, operations),
    find: scoped((scope, { webhookId, replayId }) => replays.find(scope, webhookId, replayId)),
    list: scoped((scope, { webhookId }) => replays.list(scope, webhookId, null, 10)),
    running: by(advances, everyAccount),
    countRunning: by('wings/replays/wing', 'a number alone, of one account in both environments'),
    uncounted: by(advances, everyAccount),
    areLeft: by('wings/replays/wing', everyAccount),
    count: by(advances, 'ids of jobs that `uncounted` has just read'),
    change: scoped((scope, { replayId }) => replays.change(scope, replayId, { status: 'CANCELLED' })),
  }),
}

const storesOfLibs = {
  certifications: table(certifications, {
    insert: by(
      '../../../libs/storage/src/jobs',
      'the document bears the scope of an endpoint that was found under a scope',
    ),
    find: scoped((scope, ids) => certifications.find(scope, ids.certificationId)),
    findRunning: scoped((scope, { webhookId }) => certifications.findRunning(scope, webhookId)),
    list: scoped((scope, { webhookId }) =>
      certifications.list(scope, webhookId, { before: null, limit: 10 }),
    ),
    cancel: scoped((scope, ids) => certifications.cancel(scope, ids.certificationId, {}, now, entry)),
    claim: by(jobWorkers, everyAccount),
    release: by(jobWorkers, 'a job that it has claimed'),
    renew: by(jobWorkers, 'a job that it has claimed'),
    progress: by(certificationJobs, 'a job that its worker has claimed'),
    finish: by(certificationJobs, 'a job that its worker has claimed'),
  }),
}

await holdIsolation(t, {
  db,
  owner,
  ids,
  neverMade: newIds(),
  folder: new URL('../../src/storage/', import.meta.url),
  stores,
  storesOfLibs,
  others: [
    ...['afterInterruption', 'deliveryIdOf', 'keyOf', 'claimedOf', 'asideAs'],
    ...['newDocument', 'newDueOf', 'newInterrupted', 'orderOf'],
    // Of ranges: what an item stands for.
    ...['attemptsOf', 'countedElsewhere', 'deliveriesOf', 'newestFirst', 'seqText'],
    ...['inOrder', 'packItems'],
    // Of the log: keys and filters, and what works with the parts that it is given.
    ...['appendEvents', 'createSeqSearch', 'createdIn', 'isRare', 'keysAfter', 'logKey'],
    ...['mayBeRecorded', 'noteRecent', 'readLogKey', 'isSameScope'],
  ],
})

t.test('the named callers of the methods without a scope call them', (t) => {
  const src = new URL('../../src/', import.meta.url)
  for (const { lines } of Object.values({ ...stores, ...storesOfLibs })) {
    for (const [method, line] of Object.entries(lines)) {
      if (!('internal' in line) || line === raw) continue
      const [callers = ''] = line.internal.split(': ')
      for (const caller of callers.split(', ')) {
        const path = caller.includes('/') ? `${caller}.ts` : `actions/${caller}.ts`
        const text = readFileSync(new URL(path, src), 'utf8')
        t.ok(text.includes(`.${method}(`), `${path} calls ${method}`)
      }
    }
  }
  t.end()
})

async function allOf<Item>(sources: Promise<AsyncIterable<Item>[]>): Promise<Item[]> {
  return (await Promise.all((await sources).map(toArray))).flat()
}

async function toArray<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}

function newIds(): Ids {
  const [endedId, waitingId] = [newId('dlv'), newId('dlv')]
  const [eventId, roundId] = [newId('evt'), newId('rnd')]
  return {
    webhookId: newId('whk'),
    endedId,
    waitingId,
    eventId,
    roundId,
    replayId: newId('rpl'),
    certificationId: newId('crt'),
  }
}

/** An event of the owner, the second of its log, in the first format. */
async function makeFirstEvent(): Promise<void> {
  const { operatorId, environment } = owner
  await collections.events.insertOne({
    ...{ _id: newId('evt'), operatorId, environment, seq: 2, type: 'round.started', createdAt: now },
    ...{ createdHighAt: now, recordedAt: now, body: '{"the":"first"}', roundId: newId('rnd'), targets: [] },
  })
}

/**
 * An endpoint of the owner that is late: with an event that it has passed and one that it has not, a delivery
 * that failed, one that waits, and a replay job under way.
 */
async function makeThings(): Promise<void> {
  const { webhookId, endedId, waitingId, eventId, roundId, replayId, certificationId } = ids
  await endpoints.insert({
    ...{ _id: webhookId, ...owner, version: 1, url: 'https://hooks.example/', description: null, events: [] },
    ...{ secrets: [], health: freshHealth, heldRule: null, createdAt: now, deletedAt: null },
    ...{ wakes: 0, leaseOwner: null, leaseToken: 0, isLate: true },
  })
  const event = {
    ...{ scope: owner, id: eventId, fact: eventId, openedAtMs: null, createdAt: now, recordedAt: now },
    type: 'round.started',
    ...{ body: '{"the":"owners"}', roundId },
  } as const
  const next = newId('evt')
  await events.append([event, { ...event, id: next, fact: next }], async () => () => [webhookId])
  const delivery = { ...owner, webhookId, eventId, eventType: 'round.started', lane: 'fresh' } as const
  await deliveries.insertAbsent(
    [endedId, waitingId].map((_id) => newDocument({ _id, ...delivery, createdAt: now })),
  )
  await collections.deliveries.updateOne(
    { _id: endedId, webhookId },
    { $set: { status: 'FAILED', dueAt: never } },
  )
  await certifications.insert({
    ...{ _id: certificationId, ...owner, subject: webhookId, status: 'RUNNING', claimedUntil: never },
    ...{ claimToken: 0, createdAt: now, finishedAt: null, secretCreatedAt: now },
    ...newProgress('https://hooks.example/', 1),
  })
  const attempt = {
    ...{ attempt: 1, sentAt: now, durationMs: 1, httpStatus: 200, error: null, responseExcerpt: null },
    ...{ timings: null, hint: null },
  }
  const item = { eventId, eventType: 'round.started' as const, createdAt: now, attempt }
  const range = { first: 3, to: 3, items: [{ seq: 3, item }] }
  await ranges.insert({ _id: webhookId, ...owner }, range, { w: 'this one', at: now })
  await replays.insert({
    ...{ _id: replayId, ...owner, webhookId, status: 'RUNNING', ...hour, types: [], only: 'all', matched: 1 },
    ...{ created: 0, delivered: 0, failed: 0, doneSeq: 0, endSeq: 1, selected: false },
    ...{ createdAt: now, finishedAt: null },
  })
}
