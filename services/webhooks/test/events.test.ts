import { createHash, randomUUID } from 'node:crypto'
import { deliveryHealth, roundEvents } from '@pitboss/contracts/calls/dashboard'
import {
  dashboardGetEvent,
  getEvent,
  getEventManifest,
  listEvents,
} from '@pitboss/contracts/endpoints/events'
import type { EventType } from '@pitboss/contracts/objects/event'
import { newId } from '@pitboss/runtime/new-id'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { keysAfter, readLogKey } from '../src/storage/log-keys.ts'
import { startReceiver, status } from './fixtures/receiver.ts'
import { type Rig, startRig, testCaller } from './fixtures/rig.ts'

type Query = { type?: EventType; from?: string; to?: string; limit?: number; cursor?: string }
const dayMs = 86_400_000

const list = async (rig: Rig, query: Query = {}) =>
  (
    await rig.call(listEvents, {
      caller: rig.caller(),
      params: {},
      query: { limit: 50, ...query },
      body: undefined,
    })
  ).body

const recorded = (rig: Rig, count: number) =>
  waitFor(async () => (await rig.collections.log.countDocuments({})) >= count)

t.test('reading events', async (t) => {
  const rig = await startRig(t)
  const now = Date.now()
  const ids: string[] = []
  for (const [daysAgo, type] of [
    [9, 'transaction.bet'],
    [8, 'transaction.win'],
    [6, 'transaction.bet'],
    [8, 'transaction.bet'],
    [1, 'round.completed'],
    [0, 'transaction.bet'],
  ] as const) {
    ids.push((await rig.publish({ type, createdAt: new Date(now - daysAgo * dayMs) })).id)
    // Those of one batch are recorded in the order of their creation.
    await recorded(rig, ids.length)
  }
  const at = (index: number) => ids[index] ?? ''
  const idsOf = (page: { data: { id: string }[] }) => page.data.map(({ id }) => id)

  await t.test('the default window is the last seven days, in the order of recording', async (t) => {
    t.strictSame(idsOf(await list(rig)), [at(2), at(4), at(5)])
  })

  await t.test(
    'from and to are inclusive and by created_at, also for events recorded out of order',
    async (t) => {
      const daysAgo = (days: number) => new Date(now - days * dayMs).toISOString()
      t.strictSame(idsOf(await list(rig, { from: daysAgo(8) })), [at(1), at(2), at(3), at(4), at(5)])
      t.strictSame(idsOf(await list(rig, { from: daysAgo(8), to: daysAgo(8) })), [at(1), at(3)])
      t.strictSame(
        idsOf(await list(rig, { to: daysAgo(6) })),
        [at(0), at(1), at(2), at(3)],
        'from is 7 days before to',
      )
      t.strictSame(idsOf(await list(rig, { from: daysAgo(30), type: 'transaction.win' })), [at(1)])
    },
  )

  await t.test(
    'a cursor continues where the page ended, also from an empty page, and only in its own list',
    async (t) => {
      const first = await list(rig, { limit: 2 })
      t.strictSame(idsOf(first), [at(2), at(4)])
      const second = await list(rig, { limit: 2, cursor: first.next_cursor })
      t.strictSame(idsOf(second), [at(5)])
      const empty = await list(rig, { limit: 2, cursor: second.next_cursor })
      t.strictSame(idsOf(empty), [])
      const late = await rig.publish({ createdAt: new Date(now - 3 * dayMs) })
      await recorded(rig, ids.length + 1)
      t.strictSame(
        idsOf(await list(rig, { cursor: empty.next_cursor })),
        [late.id],
        'a late writer is not missed',
      )
      const { next_cursor: cursor } = first
      const refused = { code: 'VALIDATION_ERROR', details: [{ path: 'cursor' }] }
      await t.rejects(list(rig, { cursor, type: 'transaction.bet' }), refused)
      await t.rejects(
        list(rig, { cursor: `${cursor.slice(0, -1)}${cursor.endsWith('A') ? 'B' : 'A'}` }),
        refused,
      )
      const other = testCaller({ operatorId: randomUUID(), environment: 'SANDBOX' })
      await t.rejects(
        rig.call(listEvents, { caller: other, params: {}, query: { limit: 50, cursor }, body: undefined }),
        refused,
      )
      const live = testCaller({ ...rig.scope, environment: 'LIVE' })
      await t.rejects(
        rig.call(listEvents, { caller: live, params: {}, query: { limit: 50, cursor }, body: undefined }),
        refused,
      )
    },
  )

  await t.test(
    'an event is found by its id; a foreign id, one of the other environment and a malformed one are not',
    async (t) => {
      const get = (event_id: string, caller = rig.caller()) =>
        rig.call(getEvent, { caller, params: { event_id }, query: {}, body: undefined })
      t.match((await get(at(0))).body, { id: at(0), type: 'transaction.bet' })
      const notFound = { code: 'NOT_FOUND', message: 'There is nothing here.' }
      await t.rejects(get('evt_nonsense'), notFound)
      await t.rejects(get(at(0).replace(/.$/, at(0).endsWith('0') ? '1' : '0')), notFound)
      await t.rejects(get(at(0), testCaller({ ...rig.scope, environment: 'LIVE' })), notFound)
      await t.rejects(get(at(0), testCaller({ operatorId: randomUUID(), environment: 'SANDBOX' })), notFound)
      const live = testCaller({ ...rig.scope, environment: 'LIVE' }, { eitherEnvironment: true })
      const found = await rig.call(dashboardGetEvent, {
        caller: live,
        params: { event_id: at(0) },
        query: {},
        body: undefined,
      })
      t.equal(found.body.id, at(0))
    },
  )

  await t.test('the manifest counts and hashes each hour in recording order', async (t) => {
    const from = new Date(now - 10 * dayMs).toISOString()
    const { body } = await rig.call(getEventManifest, {
      caller: rig.caller(),
      params: {},
      query: { from, to: new Date(now + 1000).toISOString() },
      body: undefined,
    })
    const hour = `${new Date(now - 8 * dayMs).toISOString().slice(0, 13)}:00:00.000Z`
    t.strictSame(
      body.hours.find((one) => one.hour === hour),
      {
        hour,
        count: 2,
        types: { 'transaction.win': 1, 'transaction.bet': 1 },
        ids_sha256: createHash('sha256')
          .update(`${at(1)}\n${at(3)}\n`)
          .digest('hex'),
      },
    )
    t.equal(
      body.hours.reduce((sum, { count }) => sum + count, 0),
      7,
    )
  })
})

t.test('pollers miss and repeat no event while many write and a replica stops', async (t) => {
  const rig = await startRig(t, { replicas: 2 })
  const total = 300
  const otherScope = { operatorId: randomUUID(), environment: 'LIVE' } as const
  const published: string[] = []
  const writing = Promise.all(
    Array.from({ length: 6 }, async (_, writer) => {
      for (let count = 0; count < total / 6; count++) {
        const { id } = await rig.publish(writer === 0 ? {} : { type: 'round.started' })
        published.push(id)
        if (count % 5 === 0) await rig.publish({ scope: otherScope })
        if (writer === 0 && count === 30) await rig.running[0]?.stop()
      }
    }),
  )
  const poll = async (limit: number) => {
    const seen: string[] = []
    let cursor: string | undefined
    await waitFor(async () => {
      const page = await list(rig, { limit, ...(cursor === undefined ? {} : { cursor }) })
      cursor = page.next_cursor
      seen.push(...page.data.map(({ id }) => id))
      return seen.length >= total
    })
    return seen
  }
  const [slow, fast] = await Promise.all([poll(20), poll(200), writing])
  t.strictSame(new Set(fast), new Set(published))
  t.equal(fast.length, total)
  t.strictSame(slow, fast, 'in one order for everybody')
  const sequence = await rig.collections.log
    .find({ _id: keysAfter(rig.scope, 0) })
    .sort({ _id: 1 })
    .toArray()
  t.strictSame(
    sequence.map(({ _id }) => readLogKey(_id).seq),
    Array.from({ length: total }, (_, index) => index + 1),
    'the recording order has no gap',
  )
})

t.test('a dossier has the events of its round with their deliveries, and no other account', async (t) => {
  const rig = await startRig(t)
  const receiver = await startReceiver(t, status(500))
  const { webhook_id } = await rig.createEndpoint(receiver.url)
  const roundId = newId('rnd')
  const data = { player_id: 'ann', round_id: roundId, amount: '10.00' }
  const { id } = await rig.publish({ type: 'round.completed', data })
  await rig.publish({ data: { ...data, round_id: newId('rnd') } })
  const ask = (caller = rig.caller()) => rig.call({ call: roundEvents }, { caller, roundId })
  const found = await waitFor(async () => {
    const { data: events, complete } = await ask()
    const [first] = events
    return complete && first?.deliveries[0]?.attempt_count === 1 ? first : null
  })
  t.equal(found.event.id, id)
  t.match(found.deliveries, [
    {
      webhook_id,
      status: 'PENDING',
      attempts: [{ attempt: 1, http_status: 500 }],
      wait: { words: /attempt 2/ },
    },
  ])
  t.equal(found.deliveries[0]?.wait?.at, found.deliveries[0]?.next_attempt_at)
  const other = testCaller({ ...rig.scope, environment: 'LIVE' })
  t.strictSame((await ask(other)).data, [])
  const health = (caller = rig.caller()) => rig.call({ call: deliveryHealth }, { caller })
  // The other one's first attempt may be under way yet.
  const both = await waitFor(async () => {
    const now = await health()
    return now.pending === 2 ? now : null
  })
  t.match(both, { held: 0, failed: 0, endpoints: 1, paused: [], failing: [webhook_id] })
  t.match(both, { ever_delivered: false, oldest_pending_at: /Z$/ })
  t.match(await health(other), { pending: 0, endpoints: 0, failing: [], oldest_pending_at: null })
})

t.test('events that are recorded together are in the order of their time', async (t) => {
  const rig = await startRig(t, { start: false })
  const now = Date.now()
  const sent = []
  // Two services send the events of a round, each when it has answered.
  for (const [ago, type] of [
    [40, 'transaction.bet'],
    [20, 'transaction.win'],
    [30, 'round.started'],
    [20, 'round.completed'],
  ] as const)
    sent.push(await rig.publish({ type, createdAt: new Date(now - ago) }))
  await rig.startOne()
  await recorded(rig, sent.length)
  t.strictSame(
    (await list(rig)).data.map(({ type }) => type),
    ['transaction.bet', 'round.started', 'transaction.win', 'round.completed'],
  )
})
