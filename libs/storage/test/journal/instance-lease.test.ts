import { randomBytes } from 'node:crypto'
import t from 'tap'
import { createInstanceLease } from '../../src/journal/instance-lease.ts'
import { createInstances, type InstanceDocument } from '../../src/journal/instances.ts'
import { testStorage } from '../fixtures/test-storage.ts'

const nothingLeft = () => ({ done: 0, last: 0, oldestAt: null })

await t.test('a lease of instances on a real engine', async (t) => {
  const { db } = await testStorage(t)
  const leases = db.collection<{ _id: string; owner: string | null; token: number }>('leases')

  /** Processes with a clock of their own, and their leases of one name. */
  function fleet() {
    const name = `work_${randomBytes(4).toString('hex')}`
    const collection = db.collection<InstanceDocument>(`instances_${name}`)
    const time = { steadyMs: 0 }
    const start = (id: string) => {
      let runs = 0
      const instances = createInstances({
        ...{ collection, build: 'test', newInstance: () => `${id}${++runs}`, now: () => new Date() },
        steadyMs: () => time.steadyMs,
      })
      const lease = createInstanceLease({ db, name, isAlive: instances.isAlive })
      return {
        ...lease,
        beat: () => instances.beat(nothingLeft),
        leave: () => instances.leave(nothingLeft()),
      }
    }
    return { name, time, start }
  }

  await t.test('belongs to one of those that want it, for as long as it lives', async (t) => {
    const { name, time, start } = fleet()
    const [a, b] = [start('a'), start('b')]
    await Promise.all([a.beat(), b.beat()])
    const both = await Promise.all([a.hold('a1'), b.hold('b1')])
    t.equal(both.filter(Boolean).length, 1, 'at once, one has it')
    const [owner, other, self, rival] = both[0] ? [a, b, 'a1', 'b1'] : [b, a, 'b1', 'a1']
    for (let second = 0; second < 6; second++) {
      time.steadyMs += 1000
      await Promise.all([a.beat(), b.beat()])
      t.equal(await owner.hold(self), true)
      t.equal(await other.hold(rival), false)
    }
    await owner.release()
    t.equal(await other.hold(rival), true, 'it is given back')
    t.equal((await leases.findOne({ _id: name }))?.owner, rival)
  })

  await t.test(
    'is taken from one that is dead, and from one that has left, and from nobody else',
    async (t) => {
      const { time, start } = fleet()
      const [a, b, c] = [start('a'), start('b'), start('c')]
      await b.beat()
      await a.beat()
      t.equal(await a.hold('a1'), true)
      t.equal(await b.hold('b1'), false, 'also by one whose last beat did not meet the owner')
      for (let second = 0; second < 5; second++) {
        t.equal(await b.hold('b1'), false, 'while it may still act')
        time.steadyMs += 1000
        await b.beat()
      }
      t.equal(await b.hold('b1'), true)
      t.equal((await a.beat()).instance, 'a2')
      t.equal(await a.hold('a2'), false, 'who was taken for dead is another instance')
      await c.beat()
      await b.leave()
      t.equal(await c.hold('c1'), true)
    },
  )

  await t.test('is taken from an owner of an earlier build, which prolonged it', async (t) => {
    const { name, start } = fleet()
    const a = start('a')
    await a.beat()
    await leases.insertOne({ _id: name, owner: 'an id of earlier', token: 7 })
    t.equal(await a.hold('a1'), true)
    t.match(await leases.findOne({ _id: name }), { owner: 'a1', token: 8 })
  })
})
