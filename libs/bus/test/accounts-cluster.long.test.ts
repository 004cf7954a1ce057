import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineCall } from '@pitboss/contracts/call'
import { startNatsCluster } from '@pitboss/testing/start-nats-cluster'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { z } from 'zod'
import { createAccessBucket, watchAccessBucket } from '../src/access-bucket.ts'
import { natsAccounts } from '@pitboss/stack/nats/accounts'
import { applyTopology } from '../src/apply-topology.ts'
import { connectBus } from '../src/connect-bus.ts'
import { consumeDurable } from '../src/consume-durable.ts'
import type { NatsUser } from '@pitboss/stack/nats/permissions'
import { handler, serveCalls } from '../src/serve-calls.ts'
import { eventSubject } from '../src/topology.ts'
import { memoryLogger } from './fixtures/memory-logger.ts'

const scope = { operatorId: '0b6d1b52-9a54-4d6b-a1f4-1c4a3f0f7a11', environment: 'LIVE' } as const
const password = 'p'
const echo = defineCall('auth.v1.keys.public', {
  token: { none: 'a test' },
  request: z.strictObject({ text: z.string() }),
  reply: z.strictObject({ text: z.string() }),
  budgetMs: 5000,
})
const unserved = defineCall('auth.v1.token.mint', echo)

await t.test('accounts hold over a cluster whose servers each have another user', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'pitboss-accounts-'))
  const accounts = natsAccounts.map((account) => ({
    ...account,
    users: account.users.map((user) => ({ ...user, password })),
  }))
  const cluster = await startNatsCluster({ dataDir, accounts })
  const { logger, lines } = memoryLogger()
  const ends: (() => Promise<unknown>)[] = [() => rm(dataDir, { recursive: true }), () => cluster.stop()]
  t.teardown(async () => {
    for (const end of ends.toReversed()) await end()
  })
  const connectTo = async (index: number, user: NatsUser) => {
    // The others it is told of by this one.
    const url = cluster.servers[index]?.url.replace('nats://', `nats://${user}:${password}@`) ?? ''
    const bus = await connectBus({ url, service: user, logger })
    ends.push(() => bus.close())
    return bus
  }
  const [ops, gateway, auth] = await Promise.all([
    connectTo(0, 'ops'),
    connectTo(1, 'gateway'),
    connectTo(2, 'auth'),
  ])
  const [bridge, webhooks] = await Promise.all([connectTo(0, 'wallet-bridge'), connectTo(1, 'webhooks')])
  // Streams of a cluster may have no leader yet when the servers have one.
  await waitFor(() => applyTopology(ops.nc, { replicas: 3 }).then(() => true), {
    what: 'the topology',
  })

  const handlers = [handler(echo, async (request) => request)]
  const served = await serveCalls({ bus: auth, service: 'auth', version: '1', logger, handlers })
  ends.push(() => served.stop())
  const answers = () => gateway.call(echo, { text: 'a' }).catch(() => null)
  t.strictSame(await waitFor(answers, { what: 'the service is known everywhere' }), { text: 'a' })
  const texts = Array.from({ length: 200 }, (_, index) => String(index))
  const replies = await Promise.all(texts.map((text) => gateway.call(echo, { text })))
  t.strictSame(
    replies.map(({ text }) => text),
    texts,
    'each answer finds its question',
  )
  await t.rejects(gateway.call(unserved, { text: '' }), { cause: 'no-responders' })
  t.ok(await gateway.request('$SRV.PING.auth', { timeoutMs: 5000 }))
  t.equal((await ops.collect('$SRV.PING.auth', { listenMs: 20_000, repliesMax: 1 })).length, 1)

  const bucket = await createAccessBucket({ bus: auth })
  const changed: string[] = []
  const watch = watchAccessBucket({ bus: gateway, onChange: (key) => void changed.push(key), logger })
  ends.push(() => watch.stop())
  const beating = setInterval(() => void bucket.heartbeat().catch(() => undefined), 200)
  ends.push(async () => clearInterval(beating))
  await waitFor(() => watch.aliveWithinMs() < 1000, { what: 'a heartbeat' })
  changed.length = 0
  await bucket.put('user.x', {})
  await waitFor(() => changed.length > 0, { what: 'the change' })
  t.strictSame(changed, ['user.x'])

  const seen: string[] = []
  const worker = consumeDurable({
    bus: webhooks,
    stream: 'EVENTS',
    consumer: 'webhooks-fanout',
    batchMax: 10,
    logger,
    handle: async (messages) => {
      for (const message of messages) {
        seen.push(message.id ?? '')
        message.ack()
      }
    },
  })
  ends.push(() => worker.stop())
  const publish = (id: string) =>
    bridge.publishEvent({ id, subject: eventSubject(scope, 'transaction.bet'), payload: Buffer.from('{}') })
  await publish('evt_1')
  await waitFor(() => seen.length === 1, { what: 'the event' })

  const killed = cluster.servers[2]?.pid()
  process.kill(killed ?? 0, 'SIGKILL')
  await waitFor(() => lines.some(({ msg }) => msg === 'nats.reconnected'), {
    what: 'auth is connected again',
  })
  t.strictSame(await waitFor(answers, { what: 'an answer after that' }), { text: 'a' })
  const published = () =>
    publish('evt_2').then(
      () => true,
      () => null,
    )
  await waitFor(published, { what: 'the next event is taken' })
  await waitFor(() => seen.includes('evt_2'), { what: 'the next event' })
  const changes = changed.length
  await waitFor(() => bucket.put('user.y', {}).catch(() => null), {
    what: 'the next change is taken',
  })
  await waitFor(() => changed.slice(changes).some((key) => key === 'user.y' || key === '*'), {
    what: 'the next change, or all counts as changed',
  })
  t.strictSame(
    lines.filter(({ msg }) => msg === 'nats.error'),
    [],
    'nothing allowed was refused',
  )
})
