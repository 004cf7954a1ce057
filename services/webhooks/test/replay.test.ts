import type { ServerResponse } from 'node:http'
import {
  cancelReplay,
  createReplay,
  dashboardRetryDelivery,
  getReplay,
  listReplays,
  pauseWebhook,
} from '@pitboss/contracts/endpoints/webhooks'
import { opsReplayEndpoint, opsShowReplay } from '@pitboss/contracts/calls/webhooks'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { newDocument } from '../src/storage/new-delivery.ts'
import { startReceiver, status } from './fixtures/receiver.ts'
import { type Rig, startRig } from './fixtures/rig.ts'

/** Each case has its own database and account, and mostly waits. */
t.jobs = 4
const atOnce = { buffered: true }

const window = () => ({
  from: new Date(Date.now() - 3_600_000).toISOString(),
  to: new Date(Date.now() + 1000).toISOString(),
})

function replayCalls(rig: Rig, webhook_id: string) {
  const base = { caller: rig.caller(), query: {} }
  const create = async (
    body: { only?: 'missing' | 'failed' | 'all'; dry_run?: boolean; types?: 'transaction.bet'[] } = {},
  ) =>
    rig.call(createReplay, {
      ...base,
      params: { webhook_id },
      body: { ...window(), only: 'missing', dry_run: false, ...body },
    })
  const show = async (replay_id: string | null) =>
    (
      await rig.call(getReplay, {
        ...base,
        params: { webhook_id, replay_id: replay_id ?? '' },
        body: undefined,
      })
    ).body
  const cancel = (replay_id: string | null) =>
    rig.call(cancelReplay, { ...base, params: { webhook_id, replay_id: replay_id ?? '' }, body: undefined })
  const done = (replay_id: string | null) =>
    waitFor(
      async () => {
        const job = await show(replay_id)
        return job.status === 'DONE' ? job : null
      },
      { timeoutMs: 60_000 },
    )
  const list = () =>
    rig.call(listReplays, { ...base, params: { webhook_id }, query: { limit: 50 }, body: undefined })
  return { create, show, cancel, done, list }
}

void t.test('what the endpoint has yet to pass is on its way, not missing', atOnce, async (t) => {
  const rig = await startRig(t)
  const receiver = await startReceiver(t)
  const { deliveries, log, ranges } = rig.collections
  const { webhook_id } = await rig.createEndpoint(receiver.url)
  const replay = replayCalls(rig, webhook_id)
  await rig.publish()
  await waitFor(async () => (await rig.countOf('DELIVERED')) === 1)
  t.match((await replay.create({ dry_run: true })).body, { matched: 0 }, 'it was accepted')
  t.match((await replay.create({ dry_run: true, only: 'all' })).body, { matched: 1 })
  // On a slow machine it took long enough to be a document.
  await Promise.all([ranges.updateMany({}, { $unset: { d: 1 } }), deliveries.deleteMany({})])
  t.match((await replay.create({ dry_run: true })).body, { matched: 1 }, 'passed without a delivery')
  await ranges.deleteMany({})
  t.match((await replay.create({ dry_run: true })).body, { matched: 0 }, 'not passed')
  t.equal(await log.countDocuments({}), 1)
})

void t.test(
  'a replay sends events from before the endpoint once; then failed ones; then all again',
  atOnce,
  async (t) => {
    const rig = await startRig(t, { timeScale: 100_000 })
    const receiver = await startReceiver(t)
    const events = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        rig.publish({ type: index < 10 ? 'transaction.bet' : 'round.started' }),
      ),
    )
    await waitFor(async () => (await rig.collections.log.countDocuments({})) === 30)
    const { webhook_id } = await rig.createEndpoint(receiver.url)
    const replay = replayCalls(rig, webhook_id)

    const preview = await replay.create({ dry_run: true, types: ['transaction.bet'] })
    t.equal(preview.status, 200)
    t.match(preview.body, {
      replay_id: null,
      status: 'PREVIEW',
      matched: 10,
      created: 0,
      types: ['transaction.bet'],
    })
    t.equal(receiver.received.length, 0)

    const begun = await replay.create()
    t.equal(begun.status, 202)
    t.match(begun.body, { status: 'RUNNING', only: 'missing', matched: 30, finished_at: null })
    t.match(await replay.done(begun.body.replay_id), {
      created: 30,
      delivered: 30,
      failed: 0,
      finished_at: String,
    })
    t.strictSame(new Set(receiver.eventIds()), new Set(events.map(({ id }) => id)))
    t.equal(receiver.received.length, 30)

    const twice = await replay.create()
    t.match(await replay.done(twice.body.replay_id), { matched: 0, created: 0, delivered: 0 })
    t.equal(receiver.received.length, 30, 'nothing is sent twice')
    await t.rejects(replay.cancel(twice.body.replay_id), { code: 'CONFLICT' })

    await rig.collections.deliveries.updateMany(
      { eventId: events[0]?.id ?? '' },
      { $set: { status: 'FAILED' } },
    )
    const failed = await replay.create({ only: 'failed' })
    t.match(await replay.done(failed.body.replay_id), { matched: 1, created: 1, delivered: 1 })
    t.match(receiver.received.at(-1)?.headers, {
      'x-svc-event-id': events[0]?.id,
      'x-svc-delivery-attempt': '2',
    })

    const all = await replay.create({ only: 'all' })
    t.match(await replay.done(all.body.replay_id), { matched: 30, created: 30, delivered: 30 })
    t.equal(receiver.received.length, 61)
    t.equal((await replay.list()).body.data.length, 4)
  },
)

void t.test(
  'a replay stays in its quarter of the slots, can be cancelled, and a paused endpoint takes none',
  atOnce,
  async (t) => {
    const rig = await startRig(t)
    const waiting: (() => void)[] = []
    const receiver = await startReceiver(t, (response) => waiting.push(() => response.end()))
    await Promise.all(Array.from({ length: 20 }, () => rig.publish()))
    await waitFor(async () => (await rig.collections.log.countDocuments({})) === 20)
    const { webhook_id } = await rig.createEndpoint(receiver.url)
    const replay = replayCalls(rig, webhook_id)
    const { body } = await replay.create()
    await waitFor(() => receiver.received.length === 2)
    await waitFor(async () => (await replay.show(body.replay_id)).created === 20)
    const fresh = await rig.publish()
    await waitFor(() => receiver.received.length === 3)
    t.equal(receiver.eventIds().at(-1), fresh.id, 'a fresh event does not wait for the replay')

    const cancelled = await replay.cancel(body.replay_id)
    t.match(cancelled.body, { status: 'CANCELLED', created: 20 })
    for (const release of waiting) release()
    await waitFor(async () => (await rig.collections.deliveries.countDocuments({ status: 'PENDING' })) === 0)
    t.equal(receiver.received.length, 3, 'unsent deliveries stay unsent')
    t.equal(await rig.collections.deliveries.countDocuments({ status: 'CANCELLED' }), 18)
    await rig.call(pauseWebhook, { caller: rig.caller(), params: { webhook_id }, query: {}, body: undefined })
    await t.rejects(replay.create(), { code: 'CONFLICT' })
  },
)

void t.test('a cancelled replay counts the deliveries that were in flight and arrived', atOnce, async (t) => {
  const rig = await startRig(t, { replicas: 2 })
  const { deliveries, log, replays } = rig.collections
  const waiting: { response: ServerResponse; eventId: string }[] = []
  const receiver = await startReceiver(t, (response, { headers }) =>
    waiting.push({ response, eventId: String(headers['x-svc-event-id']) }),
  )
  await Promise.all(Array.from({ length: 20 }, () => rig.publish()))
  await waitFor(async () => (await log.countDocuments({})) === 20)
  const { webhook_id } = await rig.createEndpoint(receiver.url)
  const replay = replayCalls(rig, webhook_id)
  const counted = async (replay_id: string | null) => {
    const ended = async () => (await replays.findOne({ _id: replay_id ?? '' }))?.counted === true
    await waitFor(ended, { what: 'the end of counting' })
    return replay.show(replay_id)
  }

  const made = (await replay.create()).body.replay_id
  await waitFor(() => waiting.length >= 2)
  await waitFor(async () => (await replay.show(made)).created === 20)
  t.match((await replay.cancel(made)).body, { status: 'CANCELLED', delivered: 0 })
  const [accepted] = waiting
  receiver.answer((response, { headers }) =>
    response.writeHead(headers['x-svc-event-id'] === accepted?.eventId ? 200 : 500).end(),
  )
  for (const { response, eventId } of waiting)
    response.writeHead(eventId === accepted?.eventId ? 200 : 500).end()
  const first = { status: 'CANCELLED', matched: 20, created: 20, delivered: 1, failed: 0 }
  t.match(await counted(made), first)
  t.equal(await deliveries.countDocuments({ status: 'DELIVERED' }), 1)
  t.equal(
    await deliveries.countDocuments({ status: 'CANCELLED' }),
    19,
    'refused deliveries are not sent again',
  )

  receiver.answer(status(200))
  const all = (await replay.create({ only: 'all' })).body.replay_id
  t.match(await replay.done(all), { matched: 20, created: 20, delivered: 20, failed: 0 })
  const deliveredAt = async () =>
    (await deliveries.find({}).sort({ _id: 1 }).toArray()).map((delivery) => delivery.deliveredAt?.getTime())
  const before = await deliveredAt()
  waiting.length = 0
  receiver.answer((response) => waiting.push({ response, eventId: '' }))
  const again = (await replay.create({ only: 'all' })).body.replay_id
  await waitFor(() => waiting.length >= 2)
  await waitFor(async () => (await replay.show(again)).created === 20)
  t.match((await replay.cancel(again)).body, { delivered: 0 }, 'earlier deliveries are not counted')
  receiver.answer(status(200))
  for (const { response } of waiting) response.writeHead(200).end()
  const { created, delivered } = await counted(again)
  t.equal(created, 20)
  const anew = (await deliveredAt()).filter((at, index) => at !== before[index])
  t.equal(delivered, anew.length)
  t.ok(delivered >= 1 && delivered < 20, `${delivered} delivered, the others as they were`)
  t.match(await replay.show(made), first, 'later jobs change nothing')
})

void t.test('a cancelled replay does not count deliveries that a person sends again', atOnce, async (t) => {
  const rig = await startRig(t)
  const { deliveries, log, replays } = rig.collections
  const waiting: ServerResponse[] = []
  const receiver = await startReceiver(t, (response) => waiting.push(response))
  await Promise.all(Array.from({ length: 10 }, () => rig.publish()))
  await waitFor(async () => (await log.countDocuments({})) === 10)
  const { webhook_id } = await rig.createEndpoint(receiver.url)
  const replay = replayCalls(rig, webhook_id)
  const { replay_id } = (await replay.create()).body
  await waitFor(() => waiting.length >= 2)
  await waitFor(async () => (await replay.show(replay_id)).created === 10)
  await replay.cancel(replay_id)
  receiver.answer(status(200))
  const left = await waitFor(() => deliveries.findOne({ status: 'CANCELLED' }))
  const retry = { caller: rig.caller(), params: { delivery_id: left._id }, query: {}, body: undefined }
  await rig.call(dashboardRetryDelivery, retry)
  const sent = async () => (await deliveries.findOne({ _id: left._id }))?.status === 'DELIVERED'
  await waitFor(sent, { what: "a person's retry" })
  for (const response of waiting) response.writeHead(200).end()
  await waitFor(async () => (await replays.findOne({ _id: replay_id ?? '' }))?.counted === true)
  const ended = await deliveries.countDocuments({ status: 'DELIVERED' })
  t.match(await replay.show(replay_id), { created: 10, delivered: ended - 1, failed: 0 })
})

void t.test(
  'a replay that is repeated under its Idempotency-Key is the first job; another body conflicts',
  atOnce,
  async (t) => {
    const rig = await startRig(t, { replicas: 2 })
    const receiver = await startReceiver(t)
    await rig.publish()
    await waitFor(async () => (await rig.collections.log.countDocuments({})) === 1)
    const { webhook_id } = await rig.createEndpoint(receiver.url)
    const body = { ...window(), only: 'missing', dry_run: false } as const
    const caller = rig.caller({ idempotencyKey: 'again' })
    const create = (changes: { only?: 'all'; dry_run?: boolean } = {}, at = webhook_id) =>
      rig.call(createReplay, { caller, query: {}, params: { webhook_id: at }, body: { ...body, ...changes } })

    const preview = await create({ dry_run: true })
    t.match(preview, { status: 200, body: { status: 'PREVIEW', matched: 1 } }, 'a preview makes nothing')
    const [one, two] = await Promise.all([create(), create()])
    t.equal(one.status, 202)
    t.equal(two.status, 202)
    t.match(one.body.replay_id, /^rpl_/)
    t.equal(two.body.replay_id, one.body.replay_id)
    await replayCalls(rig, webhook_id).done(one.body.replay_id)
    t.match(await create(), { status: 202, body: { replay_id: one.body.replay_id, status: 'DONE' } })
    await t.rejects(create({ only: 'all' }), { code: 'CONFLICT' })
    t.match(await create({ dry_run: true }), { status: 200, body: { status: 'PREVIEW', matched: 0 } })
    t.equal(await rig.collections.replays.countDocuments({}), 1)
    const [sent, ...others] = await rig.allDeliveries()
    t.strictSame(others, [])
    // A replica that stands still for seconds counts as gone, and its attempt is repeated under a new number.
    const interrupted = sent?.attempts.filter(({ error }) => error?.startsWith('interrupted')).length ?? 0
    const posts = receiver.received.length
    t.ok(posts >= 1 && posts <= 1 + interrupted, `sent once: ${JSON.stringify(sent?.attempts)}`)

    // The state after a replica died between the claim of the key and the insert of the job.
    await rig.collections.replays.deleteOne({ _id: one.body.replay_id ?? '' })
    t.equal((await create()).body.replay_id, one.body.replay_id)
    const other = await rig.createEndpoint(receiver.url)
    t.not(
      (await create({}, other.webhook_id)).body.replay_id,
      one.body.replay_id,
      'each endpoint has its own',
    )

    await rig.call(pauseWebhook, { caller, params: { webhook_id }, query: {}, body: undefined })
    t.match(
      await create(),
      { status: 202, body: { replay_id: one.body.replay_id } },
      'also when it is paused',
    )
    const fresh = { caller: rig.caller({ idempotencyKey: 'fresh' }), query: {}, params: { webhook_id }, body }
    await t.rejects(rig.call(createReplay, fresh), { code: 'CONFLICT' })
  },
)

void t.test('jobs at a paused endpoint hold up no other job', atOnce, async (t) => {
  const rig = await startRig(t, { replaysMax: 1000 })
  const receiver = await startReceiver(t)
  const { webhook_id } = await rig.createEndpoint(receiver.url)
  const { operatorId, environment } = rig.scope
  const now = new Date()
  const ids = Array.from({ length: 200 }, (_, index) => `rpl_${String(index).padStart(26, '0')}`)
  await rig.collections.deliveries.insertMany(
    ids.map((replayId) => ({
      ...newDocument({
        ...{ _id: `dlv_${replayId}`, operatorId, environment, webhookId: 'whe_paused', eventId: 'evt_1' },
        ...{ eventType: 'round.started', lane: 'replay', createdAt: now, replayId },
      }),
      status: 'HELD' as const,
    })),
  )
  const endpoint = await rig.collections.endpoints.findOne({ _id: webhook_id })
  if (endpoint === null) throw new Error('there is no endpoint')
  await rig.collections.endpoints.insertOne({ ...endpoint, _id: 'whe_paused', leaseOwner: null })
  await rig.collections.replays.insertMany(
    ids.map((_id) => ({
      ...{ _id, operatorId, environment, webhookId: 'whe_paused', status: 'RUNNING' as const },
      ...{ from: now, to: now, types: [], only: 'missing' as const, selected: true, doneSeq: 0, endSeq: 0 },
      ...{ matched: 1, created: 1, delivered: 0, failed: 0, createdAt: now, finishedAt: null },
    })),
  )
  const replay = replayCalls(rig, webhook_id)
  const { body } = await replay.create()
  t.match(await replay.done(body.replay_id), { status: 'DONE' })
})

void t.test(
  'operations replay for every operator; a failing receiver ends a job with its failures counted',
  atOnce,
  async (t) => {
    // 24 hours in 22 s: ten attempts take less also on a slow machine, or the endpoint is paused before its
    // last.
    const rig = await startRig(t, { timeScale: 4000 })
    const receiver = await startReceiver(t, status(500))
    await rig.publish()
    await waitFor(async () => (await rig.collections.log.countDocuments({})) === 1)
    const { webhook_id } = await rig.createEndpoint(receiver.url)
    const order = { by: 'tester', reason: null, dryRun: true }
    const request = { order, webhookId: webhook_id, ...window(), only: 'missing' as const }
    t.match(await rig.bus.call(opsReplayEndpoint, request), { status: 'PREVIEW', matched: 1 })
    const job = await rig.bus.call(opsReplayEndpoint, { ...request, order: { ...order, dryRun: false } })
    const done = await waitFor(async () => {
      const now = await rig.bus.call(opsShowReplay, { replayId: job.replay_id ?? '' })
      return now.status === 'DONE' ? now : null
    })
    t.match(done, { created: 1, delivered: 0, failed: 1 })
    t.equal(receiver.received.length, 12)
  },
)

void t.test('an account has so many replays under way, and no more', atOnce, async (t) => {
  const rig = await startRig(t, { replaysMax: 2 })
  const receiver = await startReceiver(t, status(500))
  await rig.publish({ type: 'round.started' })
  await waitFor(async () => (await rig.collections.log.countDocuments({})) === 1)
  const replays = async () => replayCalls(rig, (await rig.createEndpoint(receiver.url)).webhook_id)
  const [one, two, three] = [await replays(), await replays(), await replays()]
  const first = await one.create()
  await two.create()
  const full = { code: 'CONFLICT', message: /at most 2 running replays/ }
  await t.rejects(three.create(), full)
  t.match(await three.create({ dry_run: true }), { status: 200 }, 'a preview needs no place')
  await one.cancel(first.body.replay_id)
  t.match(await three.create(), { status: 202 }, 'a cancelled one leaves its place')

  for (const replay of [two, three]) {
    const [running] = (await replay.list()).body.data
    await replay.cancel(running?.replay_id ?? '')
  }
  const together = await Promise.allSettled([one, two, three, one, two].map((replay) => replay.create()))
  t.equal(together.filter(({ status }) => status === 'fulfilled').length, 2, 'nor by requests at once')
})
