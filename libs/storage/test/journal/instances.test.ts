import { randomBytes } from 'node:crypto'
import type { Db } from 'mongodb'
import t from 'tap'
import { createInstances, type InstanceDocument } from '../../src/journal/instances.ts'
import { testStorage } from '../fixtures/test-storage.ts'

const doneTo = (done: number) => () => ({ done, last: done, oldestAt: null })

/** Replicas on one collection, each with a steady clock that stands still while the process does. */
function fleetOn(db: Db) {
  const collection = db.collection<InstanceDocument>(`instances_${randomBytes(4).toString('hex')}`)
  const time = { steadyMs: 0 }
  return {
    collection,
    pass(ms: number) {
      time.steadyMs += ms
    },
    start(name: string, slot: string | null = null) {
      let runs = 0
      return createInstances({
        collection,
        build: 'test',
        slot,
        newInstance: () => `${name}${++runs}`,
        shareOf: (_, alive, self) => alive.toSorted()[0] === self,
        now: () => new Date(),
        steadyMs: () => time.steadyMs,
      })
    },
  }
}

await t.test('instances on a real engine', async (t) => {
  const { db } = await testStorage(t)

  await t.test('who stands still for four seconds is dead, and one of the others recovers it', async (t) => {
    const { collection, pass, start } = fleetOn(db)
    const [a, b, c] = [start('a'), start('b'), start('c')]
    const beatAll = () => Promise.all([a, b].map((each) => each.beat(doneTo(0))))
    await c.beat(doneTo(7))
    await c.beat(doneTo(7))
    await beatAll()
    for (let second = 0; second < 3; second++) {
      pass(1000)
      for (const { toRecover, alive } of await beatAll()) {
        t.strictSame(toRecover, [])
        t.equal(alive.length, 3)
      }
    }
    pass(1000)
    const [byA, byB] = [await a.beat(doneTo(0)), await b.beat(doneTo(0))]
    t.match(byA.toRecover, [{ _id: 'c1', done: 7 }], 'and what it had done is known')
    t.strictSame(byA.alive.toSorted(), ['a1', 'b1'])
    t.strictSame(byB.toRecover, [], 'it is the share of the first')
    pass(1000)
    t.match((await a.beat(doneTo(0))).toRecover, [{ _id: 'c1' }], 'until it is recovered')
    await a.recovered('c1')
    t.strictSame((await a.beat(doneTo(0))).toRecover, [])
    t.strictSame((await collection.find().toArray()).map(({ _id }) => _id).toSorted(), ['a1', 'b1'])
  })

  await t.test('who was judged dead comes back as another, and its old name never beats again', async (t) => {
    const { collection, pass, start } = fleetOn(db)
    const [a, slow] = [start('a'), start('slow')]
    await slow.beat(doneTo(0))
    await a.beat(doneTo(0))
    for (let second = 0; second < 4; second++) {
      pass(1000)
      await a.beat(doneTo(0))
    }
    const back = await slow.beat(doneTo(3))
    t.match(back, { instance: 'slow2', isNew: true })
    t.equal(slow.current(), 'slow2')
    t.strictSame(back.toRecover, [], 'a process that had a gap waits for others to recover')
    const old = await collection.findOne({ _id: 'slow1' })
    t.not(old?.judgedAt, null)
    t.equal(old?.done, 0, 'its late word is not taken')
    t.notOk((await slow.beat(doneTo(0))).isNew)
  })

  await t.test('a process proves by its start that the one before it in its slot has ended', async (t) => {
    const { collection, pass, start } = fleetOn(db)
    const before = start('before', 'slot-1')
    const [other, unplaced] = [start('other', 'slot-2'), start('unplaced')]
    for (const done of [0, 7]) await before.beat(doneTo(done))
    for (const one of [other, unplaced]) await one.beat(doneTo(0))
    pass(200)
    const next = start('next', 'slot-1')
    const first = await next.beat(doneTo(0))
    t.strictSame(first.alive.toSorted(), ['next1', 'other1', 'unplaced1'])
    t.match([...first.toRecover, ...(await other.beat(doneTo(0))).toRecover], [{ _id: 'before1', done: 7 }])
    const among = ['before1', 'other1', 'unplaced1', 'next1']
    t.strictSame(await other.readExited(among), ['before1'])
    t.strictSame(await other.readExited([]), [])
    t.not((await collection.findOne({ _id: 'before1' }))?.judgedAt, null)
    t.equal((await collection.findOne({ _id: 'other1' }))?.judgedAt, null)
  })

  await t.test('an instance that was judged by its silence has ended once its slot is taken', async (t) => {
    const { pass, start } = fleetOn(db)
    const [silent, judge] = [start('silent', 'slot-1'), start('judge', 'slot-2')]
    await silent.beat(doneTo(0))
    for (let second = 0; second <= 4; second++) {
      await judge.beat(doneTo(0))
      pass(1000)
    }
    t.strictSame((await judge.beat(doneTo(0))).alive, ['judge1'])
    t.strictSame(await judge.readExited(['silent1']), [], 'it may only stand still')
    await start('next', 'slot-1').beat(doneTo(0))
    t.strictSame(await judge.readExited(['silent1']), ['silent1'])
  })

  await t.test('two processes that share a slot by mistake do not end each other for ever', async (t) => {
    const { start } = fleetOn(db)
    const [a, b] = [start('a', 'slot-1'), start('b', 'slot-1')]
    await a.beat(doneTo(0))
    await b.beat(doneTo(0))
    t.match(await a.beat(doneTo(0)), { instance: 'a2', isNew: true })
    t.match(await b.beat(doneTo(0)), { instance: 'b1', isNew: false })
    t.match(await a.beat(doneTo(0)), { instance: 'a2', isNew: false })
    t.strictSame(await b.readExited(['a1', 'a2']), ['a1'])
  })

  await t.test(
    'who is alone looks for others with every fifth beat, and with each once one has begun',
    async (t) => {
      const { start, collection } = fleetOn(db)
      const reads = t.capture(collection, 'find', collection.find.bind(collection))
      /** How often it has looked since this was asked last. */
      const looks = () => reads().length
      const a = start('a')
      for (let beat = 1; beat <= 5; beat++) await a.beat(doneTo(0))
      t.equal(looks(), 1)
      await a.beat(doneTo(0))
      t.equal(looks(), 1)
      const b = start('b')
      t.strictSame((await b.beat(doneTo(0))).alive.toSorted(), ['a1', 'b1'], 'who starts knows the others')
      looks()
      for (let beat = 1; beat <= 3; beat++)
        t.strictSame((await a.beat(doneTo(0))).alive.toSorted(), ['a1', 'b1'])
      t.equal(looks(), 3)
      t.equal((await collection.findOne({ _id: 'a1' }))?.beat, 8, 'and each of its beats is seen')
      await b.leave({ done: 0, last: 0, oldestAt: null })
      looks()
      t.match((await a.beat(doneTo(0))).toRecover, [{ _id: 'b1' }])
      await a.recovered('b1')
      for (let beat = 1; beat <= 2; beat++) await a.beat(doneTo(0))
      t.equal(looks(), 2, 'it is alone again')
      await collection.updateOne({ _id: 'a1' }, { $set: { judgedAt: new Date() } })
      t.ok((await a.beat(doneTo(0))).isNew)
    },
  )

  await t.test('a beat that comes just before the judgement stops it', async (t) => {
    const { pass, start, collection } = fleetOn(db)
    const [a, b] = [start('a'), start('b')]
    await b.beat(doneTo(0))
    await a.beat(doneTo(0))
    for (let second = 0; second < 3; second++) {
      pass(1000)
      await a.beat(doneTo(0))
    }
    pass(1000)
    // Between the read and the judgement of `a`.
    const find = collection.find.bind(collection)
    t.intercept(collection, 'find', {
      value: (...args: Parameters<typeof find>) => {
        const cursor = find(...args)
        const toArray = cursor.toArray.bind(cursor)
        cursor.toArray = async () => {
          const all = await toArray()
          await collection.updateOne({ _id: 'b1' }, { $inc: { beat: 1 } })
          return all
        }
        return cursor
      },
    })
    const { toRecover, alive } = await a.beat(doneTo(0))
    t.strictSame(toRecover, [])
    t.strictSame(alive, ['a1', 'b1'])
  })

  await t.test('who had a gap itself does not judge others at once', async (t) => {
    const { pass, start } = fleetOn(db)
    const [a, b] = [start('a'), start('b')]
    await b.beat(doneTo(0))
    await a.beat(doneTo(0))
    pass(3900)
    t.strictSame((await a.beat(doneTo(0))).toRecover, [])
    for (let second = 0; second < 5; second++) {
      t.strictSame((await a.beat(doneTo(0))).toRecover, [], `${second} s after the gap`)
      pass(1000)
    }
    t.match((await a.beat(doneTo(0))).toRecover, [{ _id: 'b1' }])
  })

  await t.test('what a clean end leaves is taken over at once', async (t) => {
    const { start } = fleetOn(db)
    const [a, b] = [start('a'), start('b')]
    await b.beat(doneTo(0))
    await a.beat(doneTo(0))
    t.equal(b.current(), 'b1')
    await b.leave({ done: 3, last: 4, oldestAt: null })
    t.equal(b.current(), null)
    const { alive, toRecover } = await a.beat(doneTo(0))
    t.strictSame(alive, ['a1'])
    t.match(toRecover, [{ _id: 'b1', done: 3, last: 4 }])
    await a.recovered('b1')
    t.strictSame((await a.beat(doneTo(0))).toRecover, [])
  })

  await t.test('who has not beaten for four seconds does not write under its old name', async (t) => {
    const { pass, start } = fleetOn(db)
    const a = start('a')
    t.equal(a.current(), null, 'nor before its first beat')
    await a.beat(doneTo(0))
    pass(3999)
    t.equal(a.current(), 'a1')
    pass(1)
    t.equal(a.current(), null)
    t.match(await a.beat(doneTo(0)), { instance: 'a2', isNew: true })
    t.equal(a.current(), 'a2')
  })
})
