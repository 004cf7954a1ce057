import { createServer } from 'node:http'
import { listenLocally } from '@pitboss/testing/listen-locally'
import { jetstreamManager } from '@nats-io/jetstream'
import { applyTopology } from '@pitboss/bus/apply-topology'
import { opsWalletStatus } from '@pitboss/contracts/calls/wallet-ops'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import type { Test } from 'tap'
import { z } from 'zod'
import { breakersSubject } from '../src/clients/breakers.ts'
import { clientOf, configureWallet, newScope, specOf, startBridge, startSuite } from './fixtures/bridge.ts'
import { startSandboxWallet } from './fixtures/sandbox-wallet.ts'

const nobodyListens = 'http://127.0.0.1:9'
const notesSchema = z.object({
  from: z.string(),
  notes: z.array(z.tuple([z.string(), z.string(), z.number()])),
})
const suite = await startSuite(t)
const bridge = await startBridge(suite.environment({ timeScale: 10 }))
t.teardown(() => bridge.stop())

async function tenant(url: string, settings = {}) {
  const scope = newScope()
  const secret = await configureWallet(suite.bus, scope, url, settings)
  return { scope, secret, client: clientOf(suite.bus, scope) }
}

await t.test('ten unknown outcomes in a row stop new stakes only', async (t) => {
  const { client, scope } = await tenant(nobodyListens)
  const first = await Promise.all(Array.from({ length: 10 }, () => client.place(specOf())))
  t.ok(first.every(({ outcome }) => outcome.kind === 'pending' && outcome.code === 'WALLET_UNAVAILABLE'))
  const held = await waitFor(
    async () => {
      const spec = specOf()
      const refusal = await client.place(spec).then(
        () => null,
        (error: { code: string; resource?: unknown }) => error,
      )
      return refusal === null ? null : { spec, refusal }
    },
    { what: 'a stake is refused fast' },
  )
  t.match(held.refusal, { code: 'WALLET_UNAVAILABLE', resource: undefined })
  t.equal(await client.show(held.spec.transactionId), null, 'nothing was written')
  const win = await client.place(specOf({ type: 'WIN' }))
  t.match(win.movement, { status: 'PENDING' }, 'a credit is tried all the same')
  const repeated = first[0]
  if (repeated !== undefined) {
    const shown = await client.show(repeated.movement.transaction_id)
    t.ok(shown !== null, 'what was there before can be looked at')
  }
  t.ok((await suite.bus.call(opsWalletStatus, {})).breakers_open.includes(`${scope.operatorId}/SANDBOX`))
})

await t.test('outcomes at other replicas count here, and they are notified of outcomes here', async (t) => {
  const { client, scope } = await tenant(nobodyListens)
  const wallet = `${scope.operatorId}/${scope.environment}`
  let told = 0
  const subscription = suite.bus.subscribe(breakersSubject, ({ data }) => {
    told += timesTold(data, wallet, 'unknown')
  })
  t.teardown(() => subscription.unsubscribe())
  const message = JSON.stringify({ from: 'another', notes: [[wallet, 'unknown', 10]] })
  suite.bus.publish(breakersSubject, Buffer.from(message))
  await waitFor(async () => (await suite.bus.call(opsWalletStatus, {})).breakers_open.includes(wallet), {
    what: 'the breaker is open here',
  })
  await client.place(specOf({ type: 'WIN' }))
  await waitFor(() => told > 0, {
    what: 'the others are notified of the win without an answer',
  })
})

await t.test('a repeated stake does not use up the probe of an open breaker', async (t) => {
  const { client, scope } = await tenant(nobodyListens)
  const wallet = `${scope.operatorId}/${scope.environment}`
  const spec = specOf()
  await client.place(spec)
  await Promise.all(Array.from({ length: 9 }, () => client.place(specOf())))
  await waitFor(async () => (await suite.bus.call(opsWalletStatus, {})).breakers_open.includes(wallet), {
    what: 'the breaker is open',
  })
  let probes = 0
  const subscription = suite.bus.subscribe(breakersSubject, ({ data }) => {
    probes += timesTold(data, wallet, 'probed')
  })
  t.teardown(() => subscription.unsubscribe())
  const until = performance.now() + 1200
  await waitFor(
    async () => {
      await client.place(spec)
      return performance.now() > until
    },
    { what: 'two intervals of probes are over' },
  )
  t.equal(probes, 0)
  const stakes = () =>
    client.place(specOf()).then(
      () => true,
      () => false,
    )
  await waitFor(async () => (await stakes()) && probes > 0, {
    what: 'a new stake is the probe',
  })
})

/** How often a message of this service tells that news of the wallet. */
function timesTold(data: Uint8Array, wallet: string, news: string): number {
  const { from, notes } = notesSchema.parse(JSON.parse(Buffer.from(data).toString('utf8')))
  if (from === 'another') return 0
  return notes.reduce((sum, [of, said, times]) => sum + (of === wallet && said === news ? times : 0), 0)
}

await t.test('a wallet that hangs does not delay the credits of another', async (t) => {
  const dead = await startSandboxWallet(t, 'x')
  const alive = await startSandboxWallet(t, 'x')
  const slow = await tenant(dead.url)
  const quick = await tenant(alive.url)
  await dead.setSecret(slow.secret)
  await alive.setSecret(quick.secret)
  await dead.setFaults([{ operation: 'any', kind: 'hang' }])
  let callsEnded = 0
  const notes = suite.bus.subscribe(breakersSubject, ({ data }) => {
    callsEnded += timesTold(data, `${slow.scope.operatorId}/SANDBOX`, 'unknown')
  })
  t.teardown(() => notes.unsubscribe())
  const owed = Array.from({ length: 80 }, () => slow.client.place(specOf({ type: 'WIN' })))
  await Promise.all(owed)
  await waitFor(() => callsEnded >= owed.length, { what: 'notes of the first tries' })
  await alive.setFaults([{ operation: 'credit', kind: 'drop', nth: 1 }])
  const win = specOf({ type: 'WIN' })
  await quick.client.place(win)
  const before = callsEnded
  await waitFor(
    async () => {
      return (await quick.client.show(win.transactionId))?.movement.status === 'SUCCESS'
    },
    { what: 'the other win is credited' },
  )
  const waited = callsEnded - before
  t.ok(waited < owed.length, `it waited for ${waited} calls of the other, not for its backlog`)
  await dead.clearFaults()
  await waitFor(
    async () => {
      const ledger = await dead.ledger({ player_id: 'alice' })
      return ledger.filter(({ operation }) => operation === 'credit').length === 80
    },
    { what: 'the backlog is credited once the wallet answers' },
  )
})

await t.test('settlement works without JetStream, and the events follow', async (t) => {
  const wallet = await startSandboxWallet(t, 'x')
  const { client, scope, secret } = await tenant(wallet.url)
  await wallet.setSecret(secret)
  const manager = await jetstreamManager(suite.bus.nc)
  await manager.streams.delete('EVENTS')
  const specs = [specOf(), specOf({ type: 'WIN' }), specOf({ playerId: 'broke' })]
  const placed = await Promise.all(specs.map((spec) => client.place(spec)))
  t.same(
    placed.map(({ movement }) => movement.status),
    ['SUCCESS', 'SUCCESS', 'FAILED'],
  )
  await applyTopology(suite.bus.nc, { replicas: 1 })
  const stored = await waitFor(
    async () => {
      // Events of the tests before are sent again, too: nobody has recorded them.
      const subjects_filter = `events.v1.*.${scope.operatorId}.>`
      const { state } = await manager.streams.info('EVENTS', { subjects_filter })
      const stored = Object.values(state.subjects ?? {}).reduce((sum, count) => sum + count, 0)
      return stored >= 3 ? stored : null
    },
    { what: 'the stream has the events' },
  )
  t.equal(stored, 3)
})

await t.test('two replicas share the work and apply each movement once', async (t) => {
  const second = await startBridge(suite.environment({ timeScale: 10 }))
  t.teardown(() => second.stop())
  const wallet = await startSandboxWallet(t, 'x')
  const { client, secret } = await tenant(wallet.url)
  await wallet.setSecret(secret)
  await wallet.setFaults([{ operation: 'any', kind: 'drop', apply: true, count: 25 }])
  const specs = Array.from({ length: 60 }, (_, n) => specOf({ type: n % 2 === 0 ? 'BET' : 'WIN' }))
  const repeats = specs.flatMap((spec) => [spec, spec, spec])
  await Promise.all(repeats.map((spec) => client.place(spec).catch((error: { code: string }) => error.code)))
  const moved = await waitFor(
    async () => {
      // A stake that came while the breaker was open has no movement.
      const all = await Promise.all(specs.map(({ transactionId }) => client.show(transactionId)))
      return all.some((shown) => shown?.movement.status === 'PENDING') ? null : all
    },
    { what: 'everything has ended' },
  )
  const ledger = (await wallet.ledger({ player_id: 'alice' })).filter((e) => e.operation !== 'adjustment')
  for (const shown of moved) {
    if (shown === null) continue
    const { movement } = shown
    const entries = ledger.filter(({ transaction_id }) => transaction_id === movement.transaction_id)
    const counts = entries.filter(({ status }) => status === 'APPLIED').length
    t.equal(counts, movement.status === 'SUCCESS' ? 1 : 0, `${movement.transaction_id} ${movement.status}`)
  }
})

await t.test('two stakes of one round are never at the wallet at once', async (t) => {
  const wallet = await startSlowWallet(t, 150)
  const { client } = await tenant(wallet.url, { timeout_ms: 5000 })
  const first = specOf({ driver: 'operator' })
  const stakes = Array.from({ length: 5 }, () => ({ ...first, transactionId: specOf().transactionId }))
  const answers = await Promise.all(stakes.map((spec) => client.place(spec)))
  t.ok(answers.every(({ movement }) => movement.status === 'SUCCESS'))
  t.equal(wallet.mostAtOnce(), 1, 'they went one after the other')
})

/** A wallet that takes everything after a while and counts the calls that it has at the same time. */
async function startSlowWallet(t: Test, answersAfterMs: number) {
  let atOnce = 0
  let most = 0
  const server = createServer((call, answer) => {
    atOnce += 1
    most = Math.max(most, atOnce)
    call.resume()
    setTimeout(() => {
      atOnce -= 1
      answer.setHeader('content-type', 'application/json')
      answer.end(JSON.stringify({ status: 'OK', currency: 'USD', balance: '100.00' }))
    }, answersAfterMs)
  })
  const port = await listenLocally(server)
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${port}`, mostAtOnce: () => most }
}
