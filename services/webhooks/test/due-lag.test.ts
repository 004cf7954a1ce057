import { exactReads } from '@pitboss/testing/exact-reads'
import { waitFor } from '@pitboss/testing/wait-for'
import type { Registry } from 'prom-client'
import t from 'tap'
import { readDueLag } from '../src/actions/read-status.ts'
import { createLateness } from '../src/rules/lateness.ts'
import { createDeliveryStore } from '../src/storage/delivery-store.ts'
import { createEndpointStore } from '../src/storage/endpoint-store.ts'
import { openEventLog } from '../src/storage/event-log.ts'
import { createRangeStore } from '../src/storage/range-store.ts'
import { startReceiver, status } from './fixtures/receiver.ts'
import { startRig } from './fixtures/rig.ts'

t.test('lag is told by how the endpoint stands', (t) => {
  const dueAt = new Date('2026-11-26T08:00:00.000Z')
  const now = new Date('2026-11-26T08:00:09.000Z')
  const standingOf = ({ healthy = true, asking = 0 }) => {
    const latenessOf = createLateness()
    const look = () =>
      latenessOf({
        ...{ healthy, first: { dueAt, createdAt: dueAt }, firstDueAt: dueAt, busyShare: asking / 8, now },
      })
    for (let looks = 0; looks < 20; looks += 1) look()
    const { standing, dueMs } = look()
    return [standing, dueMs]
  }
  t.strictSame(standingOf({}), ['healthy', 9000])
  t.strictSame(standingOf({ asking: 4 }), ['healthy', 9000])
  t.strictSame(standingOf({ asking: 8 }), ['full', 9000])
  t.strictSame(standingOf({ healthy: false }), ['unhealthy', 9000])
  t.strictSame(standingOf({ healthy: false, asking: 8 }), ['unhealthy', 9000])
  t.end()
})

/** The value of the one series whose line begins so. */
async function read(registry: Registry, series: string): Promise<number> {
  const line = (await registry.metrics()).split('\n').find((one) => one.startsWith(`${series} `))
  if (line === undefined) throw new Error(`no ${series}`)
  return Number(line.slice(series.length))
}

t.test('what waits behind an open breaker, at a full receiver and without a worker is told', async (t) => {
  const rig = await startRig(t, { timeScale: 100 })
  const [service] = rig.running
  if (service === undefined) throw new Error('nothing runs')
  const { registry } = service
  const lag = (standing: string) => read(registry, `pitboss_webhook_due_lag_seconds{endpoints="${standing}"}`)
  const breakers = () => read(registry, 'pitboss_webhook_breakers_open')
  // On a slow machine a delivery may be due before its turn comes.
  const noneIsLate = (what: string) => waitFor(async () => (await lag('healthy')) === 0, { what })
  t.strictSame(await Promise.all(['healthy', 'full', 'unhealthy', 'untaken'].map(lag)), [0, 0, 0, 0])
  t.equal(await breakers(), 0)

  const { url } = await startReceiver(t, status(500))
  const refusing = await rig.createEndpoint(url, ['round.completed'])
  for (let count = 0; count < 12; count += 1) await rig.publish({ type: 'round.completed' })
  await waitFor(async () => (await breakers()) === 1, { what: 'its breaker opens' })
  await waitFor(async () => (await lag('unhealthy')) > 0.5, { what: 'its deliveries are long due' })
  await noneIsLate('of healthy ones none is due')

  const held: (() => void)[] = []
  const hanging = await startReceiver(t, (response) => held.push(() => response.writeHead(204).end()))
  await rig.createEndpoint(hanging.url, ['transaction.bet'])
  for (let count = 0; count < 12; count += 1) await rig.publish()
  await waitFor(() => held.length === 8, { what: 'it has as many attempts as it takes' })
  await waitFor(async () => (await lag('full')) > 1, { what: 'the others are due' })
  await noneIsLate('no worker is to blame')
  for (const answer of held.splice(0)) answer()
  await waitFor(() => held.length === 4, { what: 'the others come' })
  for (const answer of held) answer()
  await waitFor(async () => (await lag('full')) === 0, { what: 'nothing is due there' })

  await service.stop()
  const { collections } = rig
  const page = await createEndpointStore(collections, exactReads).page('', 10)
  const context = {
    endpoints: createEndpointStore(collections, exactReads),
    deliveries: createDeliveryStore(collections),
    events: await openEventLog(collections),
    ranges: createRangeStore(collections),
    clock: { now: () => new Date(Date.now() + 60_000) },
  }
  const left = await readDueLag(context, page)
  t.equal(left.breakersOpen, 1)
  t.ok(left.untakenMs >= 60_000 && left.untakenMs < 120_000)
  t.ok(left.behindBreakerMs > 500)
  t.equal((await readDueLag(context, [])).untakenMs, 0, 'a live worker has it')
  await collections.endpoints.updateOne({ _id: refusing.webhook_id }, { $set: { 'health.status': 'PAUSED' } })
  t.equal((await readDueLag(context, [])).breakersOpen, 0, 'one that is paused gets nothing by intent')
})
