import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineCall } from '@pitboss/contracts/call'
import { startNats } from '@pitboss/engines/start-nats'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { z } from 'zod'
import { natsAccounts } from '@pitboss/stack/nats/accounts'
import { createAccessBucket, watchAccessBucket } from '../src/access-bucket.ts'
import { applyTopology } from '../src/apply-topology.ts'
import { type Bus, connectBus } from '../src/connect-bus.ts'
import { consumeDurable, waitForTopology } from '../src/consume-durable.ts'
import type { NatsUser } from '@pitboss/stack/nats/permissions'
import { handler, serveCalls } from '../src/serve-calls.ts'
import { eventSubject } from '../src/topology.ts'
import { memoryLogger } from './fixtures/memory-logger.ts'

const scope = { operatorId: '0b6d1b52-9a54-4d6b-a1f4-1c4a3f0f7a11', environment: 'LIVE' } as const
const call = (subject: string) =>
  defineCall(subject, {
    request: z.strictObject({}),
    reply: z.strictObject({ by: z.string() }),
    budgetMs: 2000,
    token: { none: 'a test' },
  })
const plain = {
  auth: call('auth.v1.keys.public'),
  rounds: call('rounds.v1.game.list'),
  'wallet-bridge': call('wallet.v1.transaction.list'),
  webhooks: call('webhooks.v1.event.list'),
}
const ops = {
  auth: call('auth.v1.ops.status'),
  rounds: call('rounds.v1.ops.status'),
  'wallet-bridge': call('wallet.v1.ops.status'),
  webhooks: call('webhooks.v1.ops.status'),
}
/** Calls between services. */
const between = {
  auth: call('auth.v1.principal.resolve'),
  rounds: call('rounds.v1.session.currencies-in-use'),
  'wallet-bridge': call('wallet.v1.movement.place'),
  webhooks: call('webhooks.v1.endpoint.list'),
}
const services = ['auth', 'rounds', 'wallet-bridge', 'webhooks'] as const

// What they may not is in thief.test.ts.
await t.test('each NATS user may do its work', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'pitboss-permissions-'))
  // A server of one's own would not have these users.
  const { NATS_URL: _, ...env } = process.env
  const nats = await startNats({ dataDir, env, accounts: natsAccounts })
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
    await waitForTopology({ bus: bus.webhooks, consumers, logger })
    await waitForTopology({ bus: bus.rounds, consumers: movements, logger })
  })

  await t.test('calls go from whom they may to whom they may, in both ways', async (t) => {
    for (const service of services) {
      const handlers = [plain[service], ops[service], between[service]].map((one) =>
        handler(one, async () => ({ by: service })),
      )
      const served = await serveCalls({ bus: bus[service], service, version: '1', logger, handlers })
      t.teardown(() => served.stop())
    }
    for (const service of services) {
      t.strictSame(await bus.gateway.call(plain[service], {}), { by: service })
      t.strictSame(await bus.ops.call(ops[service], {}), { by: service })
      t.ok(await bus.gateway.request(`$SRV.PING.${service}`, { timeoutMs: 1000 }))
      t.ok(await bus.ops.request(`$SRV.STATS.${service}`, { timeoutMs: 1000 }))
    }
    const gateway = await serveCalls({
      bus: bus.gateway,
      service: 'gateway',
      version: '1',
      logger,
      handlers: [],
    })
    t.teardown(() => gateway.stop())
    t.ok(await bus.ops.request('$SRV.PING.gateway', { timeoutMs: 1000 }), 'gateways show themselves to ops')
    t.strictSame(await bus.rounds.call(between['wallet-bridge'], {}), { by: 'wallet-bridge' })
    t.strictSame(await bus.auth.call(between.rounds, {}), { by: 'rounds' })
    const second = await serveCalls({
      bus: await connectAs('auth'),
      service: 'auth',
      version: '1',
      logger,
      handlers: [],
    })
    t.teardown(() => second.stop())
    const pongs = await bus.ops.collect('$SRV.PING.auth', { listenMs: 20_000, repliesMax: 2 })
    t.equal(new Set(pongs.map((pong) => pong.json<{ id: string }>().id)).size, 2, 'each replica answers')
  })

  await t.test('a call that nobody answers fails at once, and so does one that is refused', async (t) => {
    const unserved = { ...call('auth.v1.token.mint'), budgetMs: 60_000 }
    await t.rejects(bus.gateway.call(unserved, {}), { cause: 'no-responders' })
    const stranger = await connectAs('webhooks')
    await t.rejects(stranger.call(unserved, {}), { cause: 'timeout' })
    await stranger.close()
    const violations = lines.filter(({ msg }) => msg === 'nats.error')
    t.equal(violations.length, 1)
    lines.splice(0)
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
    })
    t.strictSame(seen.rounds, ['evt_transaction.bet'])
  })

  await t.test('access state goes from auth to the gateways', async (t) => {
    const bucket = await createAccessBucket({ bus: bus.auth })
    const changed: string[] = []
    const onChange = (key: string) => void changed.push(key)
    const watch = watchAccessBucket({ bus: bus.gateway, onChange, logger })
    t.teardown(() => watch.stop())
    await waitFor(() => changed.length === 1, { what: 'the watch has begun' })
    await bucket.heartbeat()
    await bucket.put('credential.ck_live_x', {})
    await waitFor(() => changed.includes('credential.ck_live_x'), {
      what: 'the change arrives',
    })
    t.ok(watch.aliveWithinMs() < 5000)
  })

  await t.test('wake-ups, shared rate counts and breakers go where they are heard', async () => {
    for (const [user, subject, hearer = user] of [
      ['webhooks', 'wake.webhooks.due'],
      ['wallet-bridge', 'wake.wallet.due'],
      ['gateway', 'gw.limits.counts'],
      ['wallet-bridge', 'wb.breakers.v2'],
      ['webhooks', 'webhooks.tail.v1.op.SANDBOX.events', 'gateway'],
      ['wallet-bridge', 'wallet.tail.v1.op.SANDBOX.movements', 'gateway'],
      ['gateway', 'gateway.tail.accounts', 'webhooks'],
      ['gateway', 'gateway.tail.accounts', 'wallet-bridge'],
      ['gateway', 'gateway.tail.accounts'],
    ] as const) {
      let heard = false
      const subscription = bus[hearer].subscribe(subject, () => void (heard = true))
      // Another user's subscription is known to the server a moment later.
      const tellAgain = () => {
        bus[user].publish(subject, new Uint8Array())
        return heard
      }
      await waitFor(tellAgain, { what: `${subject} is heard` })
      subscription.unsubscribe()
    }
  })

  t.strictSame(
    lines.filter(({ msg }) => msg === 'nats.error'),
    [],
    'nothing allowed was refused',
  )
})
