import { jetstreamManager } from '@nats-io/jetstream'
import { waitFor } from '@pitboss/testing/wait-for'
import { withEngines } from '@pitboss/testing/with-engines'
import t from 'tap'
import { createAccessBucket, watchAccessBucket } from '../src/access-bucket.ts'
import { applyTopology } from '../src/apply-topology.ts'
import { connectBus } from '../src/connect-bus.ts'
import { memoryLogger } from './fixtures/memory-logger.ts'

await t.test('the access bucket', async (t) => {
  const { natsUrl } = await withEngines(t)
  const { logger, lines } = memoryLogger()
  const auth = await connectBus({ url: natsUrl, service: 'auth', logger })
  const gateway = await connectBus({ url: natsUrl, service: 'gateway', logger })
  t.teardown(() => Promise.all([auth.close(), gateway.close()]))
  await applyTopology(auth.nc, { replicas: 1 })
  const bucket = await createAccessBucket({ bus: auth })
  await bucket.put('credential.old', { revoked: true })

  const changes: [string, number][] = []
  const watch = watchAccessBucket({
    bus: gateway,
    onChange: (key, revision) => void changes.push([key, revision]),
    logger,
  })
  t.teardown(() => watch.stop())
  const beating = setInterval(() => {
    bucket.heartbeat().catch(() => undefined)
  }, 200)
  t.teardown(() => clearInterval(beating))

  await t.test('a watcher starts from nothing known and hears of changes from then on', async (t) => {
    t.equal(watch.aliveWithinMs(), Number.POSITIVE_INFINITY)
    await waitFor(() => watch.aliveWithinMs() < 1000, { what: 'the watch is alive' })
    t.ok(
      changes.every(([key]) => key === '*'),
      'nothing is known before the first heartbeat',
    )
    changes.length = 0
    const revision = await bucket.put('credential.ck_test_abc', { revoked: true })
    await waitFor(() => changes.length === 1, { what: 'the change arrives' })
    t.strictSame(changes[0], ['credential.ck_test_abc', revision])
  })

  await t.test('a lost and remade bucket makes the watcher forget what it knew', async () => {
    const manager = await jetstreamManager(auth.nc)
    changes.length = 0
    await manager.streams.delete('KV_access')
    await applyTopology(auth.nc, { replicas: 1 })
    await waitFor(() => changes.some(([key]) => key === '*'), {
      what: 'the watch started anew',
    })
    await waitFor(() => watch.aliveWithinMs() < 1000, { what: 'the watch is alive' })
    await bucket.put('platform', { real_money: false })
    await waitFor(() => changes.some(([key]) => key === 'platform'), {
      what: 'changes arrive again',
    })
  })

  await t.test('after a reconnect changes arrive again', async () => {
    changes.length = 0
    await gateway.nc.reconnect()
    await waitFor(() => lines.some((line) => line.msg === 'nats.reconnected'), {
      what: 'the link is back',
    })
    await bucket.put('keys', {})
    await waitFor(() => changes.length > 0, {
      what: 'the change arrives or everything counts as changed',
    })
  })

  await t.test('silence shows: without heartbeats the age only grows', async (t) => {
    clearInterval(beating)
    await waitFor(() => watch.aliveWithinMs() > 2000, { what: 'two seconds of silence' })
    changes.length = 0
    await waitFor(() => changes.some(([key]) => key === '*'), {
      what: 'the watch is started anew',
    })
    t.ok(watch.aliveWithinMs() > 2000)
  })
})

await t.test(
  'a bucket that is not there yet is told about with growing pauses, and found at once when it comes',
  async (t) => {
    const { natsUrl } = await withEngines(t)
    const { logger, lines } = memoryLogger()
    const auth = await connectBus({ url: natsUrl, service: 'auth', logger })
    const gateway = await connectBus({ url: natsUrl, service: 'gateway', logger })
    t.teardown(() => Promise.all([auth.close(), gateway.close()]))
    const told = () => lines.filter(({ msg }) => msg === 'access-watch.interrupted')
    const watch = watchAccessBucket({ bus: gateway, onChange: () => undefined, logger })
    t.teardown(() => watch.stop())
    await waitFor(() => told().length === 2, { what: 'it is told about again' })
    t.ok(Number(told()[1]?.times) >= 3, `${String(told()[1]?.times)} tries for two lines`)
    await applyTopology(auth.nc, { replicas: 1 })
    const bucket = await createAccessBucket({ bus: auth })
    await waitFor(
      async () => {
        await bucket.heartbeat()
        return watch.aliveWithinMs() < 1000
      },
      { what: 'the watch is alive' },
    )
    t.ok(told().length <= 3)
  },
)
