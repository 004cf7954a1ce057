import { randomUUID } from 'node:crypto'
import { type Bus, connectBus } from '@pitboss/bus/connect-bus'
import t from 'tap'
import { createInstances, type InstanceDocument } from '../src/journal/instances.ts'
import { shareCopies } from '../src/shared-copies.ts'
import { memoryLogger, silentLogger, testStorage } from './fixtures/test-storage.ts'

type Setting = { _id: string; value: number }

const progress = () => ({ done: 0, last: 0, oldestAt: null })

await t.test('copies of processes on real engines', async (t) => {
  const { db, engines } = await testStorage(t)
  const settings = db.collection<Setting>('settings')

  /** A process that beats; without `hears` no note reaches it. */
  async function startProcess({ hears = true } = {}) {
    const bus = await connectBus({ url: engines.natsUrl, service: 'rounds', logger: silentLogger })
    const deaf: Bus['subscribe'] = () => ({ unsubscribe: () => undefined })
    const instances = createInstances({
      collection: db.collection<InstanceDocument>('instances'),
      build: 'test',
      newInstance: randomUUID,
      now: () => new Date(),
      steadyMs: () => performance.now(),
    })
    const beat = () => instances.beat(progress)
    await beat()
    const beats = setInterval(() => void beat(), 1000)
    const { logger, lines } = memoryLogger()
    const shared = shareCopies({
      bus: { publish: bus.publish, subscribe: hears ? bus.subscribe : deaf },
      ...{ service: 'rounds', instances, steadyMs: () => performance.now(), logger },
    })
    let reads = 0
    const copies = shared.of('settings', (key) => {
      reads += 1
      return settings.findOne({ _id: key })
    })
    // The server knows of the subscriptions.
    await bus.nc.flush()
    return {
      copies,
      reads: () => reads,
      warnings: lines,
      async stop() {
        clearInterval(beats)
        shared.stop()
        await instances.leave(progress())
        await bus.close()
      },
    }
  }
  type Process = Awaited<ReturnType<typeof startProcess>>

  const valuesOf = async (processes: readonly Process[], key: string) =>
    (await Promise.all(processes.map(({ copies }) => copies.read(key)))).map((found) => found?.value ?? null)

  await t.test('a change is in force in every process once it is answered', async (t) => {
    const processes = [await startProcess(), await startProcess(), await startProcess()]
    t.teardown(() => Promise.all(processes.map(({ stop }) => stop())))
    const [first] = processes
    t.strictSame(await valuesOf(processes, 'dice'), [null, null, null], 'what is missing is a copy, too')
    for (let value = 1; value <= 20; value++) {
      await settings.updateOne({ _id: 'dice' }, { $set: { value } }, { upsert: true })
      await processes[value % processes.length]?.copies.drop('dice')
      t.strictSame(await valuesOf(processes, 'dice'), [value, value, value])
      await valuesOf(processes, 'dice')
    }
    t.equal(first?.reads(), 21, 'each change costs one read, and nothing else any')
  })

  await t.test('a process that no note reaches uses nothing old once the change is answered', async (t) => {
    const processes = [await startProcess(), await startProcess({ hears: false })]
    t.teardown(() => Promise.all(processes.map(({ stop }) => stop())))
    await settings.updateOne({ _id: 'mines' }, { $set: { value: 1 } }, { upsert: true })
    t.strictSame(await valuesOf(processes, 'mines'), [1, 1])
    await settings.updateOne({ _id: 'mines' }, { $set: { value: 2 } })
    t.strictSame(await valuesOf(processes, 'mines'), [1, 1], 'until then it has a copy')
    await processes[0]?.copies.drop('mines')
    t.match(processes[0]?.warnings(), [{ msg: 'copies.not-acknowledged', key: 'mines' }])
    t.strictSame(await valuesOf(processes, 'mines'), [2, 2])
  })

  await t.test('a process that has left holds up no change, and a change alone asks nobody', async (t) => {
    const process = await startProcess()
    t.teardown(() => process.stop())
    await (await startProcess({ hears: false })).stop()
    await settings.updateOne({ _id: 'spin' }, { $set: { value: 1 } }, { upsert: true })
    await process.copies.drop('spin')
    t.strictSame(process.warnings(), [], 'it waited for nobody')
    t.strictSame(await valuesOf([process], 'spin'), [1])
  })
})
