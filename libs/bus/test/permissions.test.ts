import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineCall } from '@pitboss/contracts/call'
import { startNats } from '@pitboss/engines/start-nats'
import { waitFor } from '@pitboss/testing/wait-for'
import { PermissionViolationError } from 'nats'
import t from 'tap'
import { z } from 'zod'
import { createAccessBucket } from '../src/access-bucket.ts'
import { applyTopology } from '../src/apply-topology.ts'
import { type Bus, connectBus } from '../src/connect-bus.ts'
import { consumeDurable } from '../src/consume-durable.ts'
import { type NatsUser, natsPermissions, natsUsers } from '../src/permissions.ts'
import { handler, serveCalls } from '../src/serve-calls.ts'
import { eventSubject } from '../src/topology.ts'
import { waitForTopology } from '../src/wait-for-topology.ts'
import { watchAccessBucket } from '../src/watch-access-bucket.ts'
import { memoryLogger } from './fixtures/memory-logger.ts'

const scope = { operatorId: '0b6d1b52-9a54-4d6b-a1f4-1c4a3f0f7a11', environment: 'LIVE' } as const
const call = (subject: string) =>
  defineCall({
    subject,
    request: z.strictObject({}),
    reply: z.strictObject({ by: z.string() }),
    budgetMs: 2000,
  })
const plain = {
  auth: call('auth.v1.test.echo'),
  rounds: call('rounds.v1.test.echo'),
  'wallet-bridge': call('wallet.v1.test.echo'),
  webhooks: call('webhooks.v1.test.echo'),
}
const ops = {
  auth: call('auth.v1.ops.echo'),
  rounds: call('rounds.v1.ops.echo'),
  'wallet-bridge': call('wallet.v1.ops.echo'),
  webhooks: call('webhooks.v1.ops.echo'),
}
const services = ['auth', 'rounds', 'wallet-bridge', 'webhooks'] as const

await t.test('each NATS user may do its work and nothing else', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'pitboss-permissions-'))
  // A server of one's own would not have these users.
  const { NATS_URL: _, ...env } = process.env
  const users = natsUsers.map((name) => ({ name, permissions: natsPermissions[name] }))
  const nats = await startNats({ dataDir, env, accounts: [{ name: 'PITBOSS', users }] })
  const { logger, lines } = memoryLogger()
  const opened: Bus[] = []
  t.teardown(async () => {
    await Promise.all(opened.map((bus) => bus.close()))
    await nats.stop()
    await rm(dataDir, { recursive: true, force: true })
  })
  const connectAs = async (user: NatsUser) => {
    const bus = await connectBus({ url: nats.url, nkeySeed: nats.seeds[user], service: user, logger })
    opened.push(bus)
    return bus
  }
  const bus: Record<NatsUser, Bus> = {
    gateway: await connectAs('gateway'),
    auth: await connectAs('auth'),
    rounds: await connectAs('rounds'),
    'wallet-bridge': await connectAs('wallet-bridge'),
    webhooks: await connectAs('webhooks'),
    ops: await connectAs('ops'),
  }

  await t.test('ops makes the topology, and whoever needs a part of it sees it', async () => {
    await applyTopology(bus.ops.nc, { replicas: 1 })
    const consumers = [{ stream: 'EVENTS', name: 'webhooks-fanout' }]
    const movements = [{ stream: 'EVENTS', name: 'rounds-movements' }]
    await waitForTopology({ bus: bus.webhooks, streams: ['EVENTS'], consumers, logger })
    await waitForTopology({ bus: bus.rounds, streams: ['EVENTS'], consumers: movements, logger })
    await waitForTopology({ bus: bus['wallet-bridge'], streams: ['EVENTS'], logger })
    await waitForTopology({ bus: bus.auth, streams: ['KV_access'], logger })
    await waitForTopology({ bus: bus.gateway, streams: ['KV_access'], logger })
  })

  await t.test('calls go from whom they may to whom they may, in both ways', async (t) => {
    for (const service of services) {
      const handlers = [plain[service], ops[service]].map((one) =>
        handler(one, async () => ({ by: service })),
      )
      const served = await serveCalls({ bus: bus[service], service, version: '1', logger, handlers })
      t.teardown(() => served.stop())
    }
    for (const service of services) {
      t.strictSame(await bus.gateway.call(plain[service], {}), { by: service })
      t.strictSame(await bus.ops.call(plain[service], {}), { by: service })
      t.strictSame(await bus.ops.call(ops[service], {}), { by: service })
      t.ok(await bus.gateway.nc.request(`$SRV.PING.${service}`))
      t.ok(await bus.ops.nc.request(`$SRV.STATS.${service}`))
    }
    const gateway = await serveCalls({
      bus: bus.gateway,
      service: 'gateway',
      version: '1',
      logger,
      handlers: [],
    })
    t.teardown(() => gateway.stop())
    t.ok(await bus.ops.nc.request('$SRV.PING.gateway'), 'gateways show themselves to ops')
    t.strictSame(await bus.rounds.call(plain['wallet-bridge'], {}), { by: 'wallet-bridge' })
    t.strictSame(await bus.auth.call(plain.rounds, {}), { by: 'rounds' })
  })

  await t.test('events go from their makers to their consumers', async (t) => {
    const publish = (user: NatsUser, type: string) =>
      bus[user].publishEvent({
        id: `evt_${type}`,
        subject: eventSubject(scope, type),
        payload: Buffer.from('{}'),
      })
    await publish('rounds', 'round.completed')
    await publish('rounds', 'game.session.created')
    await publish('wallet-bridge', 'transaction.bet')
    const seen: Record<string, string[]> = { webhooks: [], rounds: [] }
    for (const [user, consumer] of [
      ['webhooks', 'webhooks-fanout'],
      ['rounds', 'rounds-movements'],
    ] as const) {
      const worker = consumeDurable({
        bus: bus[user],
        stream: 'EVENTS',
        consumer,
        batchMax: 10,
        logger,
        handle: async (messages) => {
          for (const message of messages) {
            seen[user]?.push(message.id ?? '')
            message.ack()
          }
        },
      })
      t.teardown(() => worker.stop())
    }
    await waitFor(() => seen.webhooks?.length === 3 && seen.rounds?.length === 1, {
      what: 'both have theirs',
      timeoutMs: 10_000,
    })
    t.strictSame(seen.rounds, ['evt_transaction.bet'])
  })

  await t.test('access state goes from auth to the gateways', async (t) => {
    const bucket = await createAccessBucket({ bus: bus.auth })
    const changed: string[] = []
    const onChange = (key: string) => void changed.push(key)
    const watch = watchAccessBucket({ bus: bus.gateway, onChange, logger })
    t.teardown(() => watch.stop())
    await waitFor(() => changed.length === 1, { what: 'the watch has begun', timeoutMs: 10_000 })
    await bucket.heartbeat()
    await bucket.put('credential.ck_live_x', {})
    await waitFor(() => changed.includes('credential.ck_live_x'), {
      what: 'the change arrives',
      timeoutMs: 10_000,
    })
    t.ok(watch.aliveWithinMs() < 5000)
  })

  await t.test('wake-ups, shared rate counts and breakers go where they are heard', async () => {
    for (const [user, subject] of [
      ['webhooks', 'wake.webhooks.due'],
      ['rounds', 'wake.rounds.due'],
      ['wallet-bridge', 'wake.wallet.due'],
      ['gateway', 'gw.limits.counts'],
      ['wallet-bridge', 'wb.breakers.v1'],
    ] as const) {
      let heard = false
      const subscription = bus[user].subscribe(subject, () => void (heard = true))
      bus[user].publish(subject, new Uint8Array())
      await waitFor(() => heard, { what: `${subject} is heard`, timeoutMs: 10_000 })
      subscription.unsubscribe()
    }
  })

  t.strictSame(
    lines.filter(({ msg }) => msg === 'nats.error'),
    [],
    'nothing allowed was refused',
  )

  const round = eventSubject(scope, 'round.completed')
  const bet = eventSubject(scope, 'transaction.bet')
  const forbidden: Record<NatsUser, { publish: string[]; subscribe: [subject: string, queue?: string][] }> = {
    gateway: {
      publish: [
        round,
        bet,
        '$KV.access.platform',
        'auth.v1.ops.operator-create',
        'wallet.v1.ops.movement-resolve',
        'wake.wallet.due',
        '_INBOX.rounds.x',
        '$JS.API.STREAM.DELETE.KV_access',
        '$JS.API.STREAM.MSG.GET.EVENTS',
        '$JS.API.CONSUMER.CREATE.EVENTS.x',
      ],
      subscribe: [
        ['>'],
        ['rounds.v1.>', 'rounds'],
        ['_INBOX.auth.>'],
        ['_INBOX.>'],
        ['events.v1.>'],
        ['$KV.access.>'],
      ],
    },
    auth: {
      publish: [
        round,
        bet,
        'wallet.v1.movement.place',
        'webhooks.v1.x.y',
        'rounds.v1.ops.game-set',
        '$JS.API.STREAM.DELETE.KV_access',
        '$JS.API.STREAM.PURGE.EVENTS',
      ],
      subscribe: [['auth.v1.>'], ['rounds.v1.>', 'rounds'], ['_INBOX.gateway.>'], ['events.v1.>']],
    },
    rounds: {
      publish: [
        bet,
        'auth.v1.token.mint',
        'webhooks.v1.x.y',
        'wallet.v1.ops.movement-resolve',
        '$KV.access.platform',
        '$JS.API.CONSUMER.MSG.NEXT.EVENTS.webhooks-fanout',
        '$JS.ACK.EVENTS.webhooks-fanout.1.1.1.1.1',
        '$JS.API.CONSUMER.DELETE.EVENTS.rounds-movements',
        'wake.webhooks.due',
      ],
      subscribe: [
        ['rounds.v1.>'],
        ['rounds.v1.>', 'other'],
        ['wallet.v1.>', 'wallet-bridge'],
        ['_INBOX.gateway.>'],
        ['events.v1.>'],
      ],
    },
    'wallet-bridge': {
      publish: [
        round,
        eventSubject(scope, 'game.session.created'),
        'rounds.v1.round.play',
        'auth.v1.token.mint',
        '$KV.access.platform',
        '$JS.API.CONSUMER.MSG.NEXT.EVENTS.rounds-movements',
        '$JS.API.STREAM.PURGE.EVENTS',
      ],
      subscribe: [['wallet.v1.>'], ['rounds.v1.>', 'rounds'], ['_INBOX.rounds.>'], ['events.v1.>']],
    },
    webhooks: {
      publish: [
        round,
        bet,
        'wallet.v1.movement.place',
        'rounds.v1.round.play',
        'auth.v1.token.mint',
        '$JS.API.CONSUMER.MSG.NEXT.EVENTS.rounds-movements',
        '$JS.API.CONSUMER.DELETE.EVENTS.webhooks-fanout',
        '$JS.API.STREAM.PURGE.EVENTS',
      ],
      subscribe: [['webhooks.v1.>'], ['wallet.v1.>', 'wallet-bridge'], ['_INBOX.gateway.>'], ['events.v1.>']],
    },
    ops: {
      publish: [
        round,
        bet,
        '$KV.access.platform',
        '_INBOX.gateway.x',
        'wake.webhooks.due',
        '$JS.ACK.EVENTS.webhooks-fanout.1.1.1.1.1',
      ],
      subscribe: [['rounds.v1.>', 'rounds'], ['_INBOX.gateway.>'], ['events.v1.>'], ['$KV.access.>']],
    },
  }
  for (const user of natsUsers) {
    await t.test(`${user} is refused what is not its own`, async (t) => {
      const { nc } = await connectAs(user)
      const refused = new Set<string>()
      const watch = async () => {
        for await (const status of nc.status()) {
          if (status.type !== 'error' || !(status.error instanceof PermissionViolationError)) continue
          const { operation, subject, queue } = status.error
          refused.add(`${operation} ${subject} ${queue ?? ''}`)
        }
      }
      const watching = watch()
      const { publish, subscribe } = forbidden[user]
      for (const subject of publish) nc.publish(subject, '{}')
      for (const [subject, queue] of subscribe) {
        nc.subscribe(subject, { callback: () => undefined, ...(queue === undefined ? {} : { queue }) })
      }
      const expected = new Set([
        ...publish.map((subject) => `publish ${subject} `),
        ...subscribe.map(([subject, queue]) => `subscription ${subject} ${queue ?? ''}`),
      ])
      await waitFor(() => refused.size >= expected.size, { what: 'all are refused', timeoutMs: 10_000 })
      t.strictSame(refused, expected)
      await nc.close()
      await watching
    })
  }
})
