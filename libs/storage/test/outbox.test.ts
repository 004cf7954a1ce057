import { jetstreamManager } from '@nats-io/jetstream'
import { applyTopology } from '@pitboss/bus/apply-topology'
import { connectBus } from '@pitboss/bus/connect-bus'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { ensureIndexes } from '../src/ensure-indexes.ts'
import { createOutbox, outboxIndex } from '../src/outbox.ts'
import { outboxEntry, type WithOutbox } from '../src/outbox-entry.ts'
import type { EventPublisher } from '../src/sent-events.ts'
import { silentLogger, testStorage } from './fixtures/test-storage.ts'

const scope = { operatorId: '0b6d1b52-9a54-4d6b-a1f4-1c4a3f0f7a11', environment: 'LIVE' } as const
const createdAt = new Date('2026-11-20T09:30:00.000Z')

type Entity = WithOutbox & { _id: string; version: number }

await t.test(
  'an envelope is rendered with its fields in the documented order and under its subject',
  async (t) => {
    const entry = outboxEntry({
      id: 'evt_1',
      type: 'round.completed',
      createdAt,
      scope,
      data: { stake: '1.00' },
    })
    t.strictSame(entry, {
      id: 'evt_1',
      subject: 'events.v1.live.0b6d1b52-9a54-4d6b-a1f4-1c4a3f0f7a11.round.completed',
      body:
        '{"id":"evt_1","type":"round.completed","created_at":"2026-11-20T09:30:00.000Z","environment":"LIVE",' +
        '"operator_id":"0b6d1b52-9a54-4d6b-a1f4-1c4a3f0f7a11","data":{"stake":"1.00"}}',
    })
  },
)

await t.test('the outbox', async (t) => {
  const { db, engines } = await testStorage(t)
  await ensureIndexes(db, { entities: [outboxIndex] })
  const collection = db.collection<Entity>('entities')
  const bus = await connectBus({ url: engines.natsUrl, service: 'rounds', logger: silentLogger })
  t.teardown(() => bus.close())
  await applyTopology(bus.nc, { replicas: 1 })
  const manager = await jetstreamManager(bus.nc)
  const clock = { now: () => new Date() }
  const entry = (id: string) => outboxEntry({ id, type: 'round.started', createdAt, scope, data: { id } })
  const append = (_id: string, ids: string[], at = clock.now()) =>
    collection.updateOne(
      { _id },
      { $push: { outbox: { $each: ids.map(entry) } }, $set: { outboxAt: at }, $inc: { version: 1 } },
    )
  const insert = (_id: string, ids: string[], at = clock.now()) =>
    collection.insertOne({ _id, version: 1, outbox: ids.map(entry), outboxAt: at })
  const stored = async () => {
    const { state } = await manager.streams.info('EVENTS')
    const ids: string[] = []
    for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
      const message = await manager.streams.getMessage('EVENTS', { seq })
      if (message !== null) ids.push(message.header.get('Nats-Msg-Id'))
    }
    return ids
  }
  const empty = { outbox: [], outboxAt: null }
  const outbox = createOutbox({ collection, bus, clock, logger: silentLogger })

  await t.test('what waits is published once, in order, byte for byte, and then removed', async (t) => {
    await insert('a', ['evt_1', 'evt_2'])
    await append('a', ['evt_3'])
    await Promise.all([outbox.relay({ _id: 'a' }), outbox.relay({ _id: 'a' })])
    t.strictSame(await stored(), ['evt_1', 'evt_2', 'evt_3'])
    t.match(await collection.findOne({ _id: 'a' }), empty)
    const message = await manager.streams.getMessage('EVENTS', { seq: 1 })
    t.equal(message?.string(), entry('evt_1').body)
    await outbox.relay({ _id: 'a' })
    await outbox.relay({ _id: 'no such document' })
    t.equal((await stored()).length, 3)
  })

  await t.test(
    'what is appended while the relay is at work is neither lost nor published out of order',
    async (t) => {
      await manager.streams.purge('EVENTS')
      await insert('b', ['evt_10'])
      let appended = false
      const slow: EventPublisher = {
        connected: () => true,
        async publishEvent(event) {
          const ack = await bus.publishEvent(event)
          if (!appended) await append('b', ['evt_11', 'evt_12'])
          appended = true
          return ack
        },
      }
      const relay = createOutbox({ collection, bus: slow, clock, logger: silentLogger })
      await relay.relay({ _id: 'b' })
      t.match(await collection.findOne({ _id: 'b' }), {
        outbox: [{ id: 'evt_11' }, { id: 'evt_12' }],
        outboxAt: Date,
      })
      await relay.relay({ _id: 'b' })
      t.strictSame(await stored(), ['evt_10', 'evt_11', 'evt_12'])
      t.match(await collection.findOne({ _id: 'b' }), empty)
    },
  )

  await t.test('an event that has left since its document was read is not sent again', async (t) => {
    const { sent, publisher: counting } = countingPublisher()
    const relay = createOutbox({ collection, bus: counting, clock, logger: silentLogger })
    await insert('left', ['evt_20'])
    await relay.relay({ _id: 'left' }, [entry('evt_20')])
    await append('left', ['evt_21'])
    await relay.relay({ _id: 'left' }, [entry('evt_20'), entry('evt_21')])
    t.strictSame(sent, ['evt_20', 'evt_21'])
    t.match(await collection.findOne({ _id: 'left' }), empty)

    await append('left', ['evt_20'])
    await relay.relay({ _id: 'left' }, [entry('evt_20')])
    t.strictSame(sent, ['evt_20', 'evt_21'], 'a writer may be behind')
    await relay.relay({ _id: 'left' })
    t.strictSame(sent, ['evt_20', 'evt_21', 'evt_20'], 'the outbox itself is not')
    t.match(await collection.findOne({ _id: 'left' }), empty)
  })

  await t.test('events go out behind the answer that their write is for, and before a stop', async (t) => {
    const { sent, publisher: counting } = countingPublisher()
    const behind = createOutbox({ collection, bus: counting, clock, logger: silentLogger })
    const stop = behind.start()
    await insert('behind', ['evt_25'])
    const relayed = behind.relay({ _id: 'behind' }, [entry('evt_25')])
    t.strictSame(sent, [], 'the writer goes on first')
    await stop()
    t.strictSame(sent, ['evt_25'])
    await relayed
    t.match(await collection.findOne({ _id: 'behind' }), empty)
  })

  await t.test(
    'what a write left need not be read again, and of many outboxes each loses what was sent and nothing else',
    async (t) => {
      await manager.streams.purge('EVENTS')
      const ids = Array.from({ length: 40 }, (_, index) => `g${String(index).padStart(2, '0')}`)
      await Promise.all(ids.map((_id) => insert(_id, [`evt_${_id}`])))
      await append('g07', ['evt_g07b'])
      await Promise.all(ids.map((_id) => outbox.relay({ _id }, [entry(`evt_${_id}`)])))
      t.strictSame(
        (await stored()).sort(),
        ids.map((_id) => `evt_${_id}`),
      )
      const left = await collection.find({ _id: { $in: ids }, 'outbox.0': { $exists: true } }).toArray()
      t.match(left, [{ _id: 'g07', outbox: [{ id: 'evt_g07b' }], outboxAt: Date }])
      t.equal(left.length, 1)
      t.equal(await collection.countDocuments({ _id: { $in: ids }, ...empty }), ids.length - 1)
      await outbox.relay({ _id: 'g07' })
      t.match(await collection.findOne({ _id: 'g07' }), empty)
    },
  )

  await t.test(
    'a relay that dies between ack and removal repeats all of it, and the stream keeps one of each',
    async (t) => {
      await manager.streams.purge('EVENTS')
      await insert('c', ['evt_20', 'evt_21', 'evt_22'])
      let left = 2
      const dying: EventPublisher = {
        connected: () => true,
        async publishEvent(event) {
          if (left === 0) throw new Error('the broker went away')
          left -= 1
          return bus.publishEvent(event)
        },
      }
      await createOutbox({ collection, bus: dying, clock, logger: silentLogger }).relay({ _id: 'c' })
      t.match(await collection.findOne({ _id: 'c' }), {
        outbox: [{ id: 'evt_20' }, { id: 'evt_21' }, { id: 'evt_22' }],
      })
      await outbox.relay({ _id: 'c' })
      t.strictSame(await stored(), ['evt_20', 'evt_21', 'evt_22'])
    },
  )

  await t.test(
    'two replicas that relay one document at a time publish each event once and in order',
    async (t) => {
      await manager.streams.purge('EVENTS')
      const ids = Array.from({ length: 12 }, (_, index) => `evt_3${index}`)
      await insert('d', ids.slice(0, 3))
      const other = createOutbox({ collection, bus, clock, logger: silentLogger })
      for (let from = 3; from < ids.length; from += 3) {
        const relays = Promise.all([outbox.relay({ _id: 'd' }), other.relay({ _id: 'd' })])
        await append('d', ids.slice(from, from + 3))
        await relays
      }
      await outbox.relay({ _id: 'd' })
      t.strictSame(await stored(), ids)
      t.match(await collection.findOne({ _id: 'd' }), empty)
    },
  )

  await t.test(
    'the sweeper finds what a crash left, not what was written just now, and nothing while disconnected',
    async (t) => {
      await manager.streams.purge('EVENTS')
      let connected = false
      const now = clock.now()
      await insert('e', ['evt_40'], new Date(now.getTime() - 60_000))
      await insert('f', ['evt_41'], new Date(now.getTime() + 3_600_000))
      const publisher: EventPublisher = {
        connected: () => connected,
        publishEvent: (event) => bus.publishEvent(event),
      }
      const swept = createOutbox({ collection, bus: publisher, clock, logger: silentLogger })
      await swept.relay({ _id: 'e' })
      t.strictSame(await stored(), [])
      const stop = swept.start()
      connected = true
      await waitFor(async () => (await stored()).length === 1, {
        what: 'the left one is published',
      })
      await stop()
      t.strictSame(await stored(), ['evt_40'])
      t.match(await collection.findOne({ _id: 'e' }), empty)
      t.match(await collection.findOne({ _id: 'f' }), { outbox: [{ id: 'evt_41' }] })
    },
  )

  await t.test(
    'what a crash left emptied and still marked is unmarked: else it would be looked at for ever, before what waits',
    async () => {
      await insert('i', [], new Date(clock.now().getTime() - 60_000))
      const stop = createOutbox({ collection, bus, clock, logger: silentLogger }).start()
      await waitFor(async () => (await collection.findOne({ _id: 'i' }))?.outboxAt === null, {
        what: 'the mark is gone',
      })
      await stop()
    },
  )
})

/** A publisher that keeps the ids of what it is given. */
function countingPublisher(): { sent: string[]; publisher: EventPublisher } {
  const sent: string[] = []
  const publisher: EventPublisher = {
    connected: () => true,
    publishEvent({ id }) {
      sent.push(String(id))
      return Promise.resolve({ seq: sent.length, duplicate: false })
    },
  }
  return { sent, publisher }
}
