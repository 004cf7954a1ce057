import type { ChildProcess } from 'node:child_process'
import type { MovementSpec } from '@pitboss/contracts/calls/wallet'
import { connectStorage } from '@pitboss/storage/connect-storage'
import { parseKeyring } from '@pitboss/storage/keyring'
import { createSecretBox } from '@pitboss/storage/stored-secrets'
import { acknowledgeEvents } from '@pitboss/testing/acknowledge-events'
import { waitFor } from '@pitboss/testing/wait-for'
import { sampleAuditEntry } from '@pitboss/testing/sample-audit-entry'
import t from 'tap'
import { createMovements } from '../src/storage/movements.ts'
import { createWallets } from '../src/storage/wallet-document.ts'
import {
  clientOf,
  newScope,
  reversalOf,
  silentLogger,
  specOf,
  startBridge,
  startSuite,
} from './fixtures/bridge.ts'
import { spawnBridge } from './fixtures/spawn-bridge.ts'
import { type FaultRule, startSandboxWallet } from './fixtures/sandbox-wallet.ts'

/** The process is killed at each step of a movement; another one must end it with the books right. */

const startTimeoutMs = 60_000
const secret = 'wsec_for_every_case'
const suite = await startSuite(t)
const wallet = await startSandboxWallet(t, secret)

type Scenario =
  | 'bet'
  | 'bet-retried'
  | 'win'
  | 'win-retried'
  | 'refund'
  | 'rollback'
  | 'void'
  | 'refused-later'

const cases: readonly (readonly [Scenario, string])[] = [
  ['bet', 'wallet.before-intent'],
  ['bet', 'wallet.intent-stored'],
  ['bet', 'wallet.debit-before-call'],
  ['bet', 'wallet.debit-answered'],
  ['bet', 'wallet.debit-result-stored'],
  ['bet-retried', 'wallet.debit-call-begun'],
  ['bet-retried', 'wallet.debit-answered@2'],
  ['win', 'wallet.credit-before-call'],
  ['win', 'wallet.credit-answered'],
  ['win', 'wallet.credit-result-stored'],
  ['win-retried', 'wallet.credit-call-begun'],
  ['win-retried', 'wallet.credit-answered@2'],
  ['refund', 'wallet.reversal-asked'],
  ['refund', 'wallet.reversal-inserted'],
  ['refund', 'wallet.credit-answered'],
  ['refund', 'wallet.original-ended'],
  ['rollback', 'wallet.rollback-call-begun'],
  ['rollback', 'wallet.rollback-answered'],
  ['rollback', 'wallet.original-ended'],
  ['void', 'wallet.void-asked'],
  ['void', 'wallet.rollback-answered'],
  ['refused-later', 'wallet.debit-result-stored@2'],
  ['refused-later', 'wallet.rollback-before-call'],
]

const faultsOf = (scenario: Scenario, playerId: string): FaultRule[] => {
  if (scenario === 'bet-retried')
    return [{ operation: 'debit', player_id: playerId, kind: 'drop', apply: true, count: 1 }]
  if (scenario === 'win-retried')
    return [{ operation: 'credit', player_id: playerId, kind: 'http_error', apply: true, count: 1 }]
  if (scenario !== 'refused-later') return []
  return [
    { operation: 'debit', player_id: playerId, kind: 'drop', apply: true, nth: 1 },
    { operation: 'debit', player_id: playerId, kind: 'refuse', code: 'LIMIT_EXCEEDED', nth: 2 },
  ]
}

/** The possible ends of a stake whose process died: taken, or given back when its time was over. */
function endsOf(scenario: Scenario): string[] {
  if (scenario === 'win' || scenario === 'win-retried') return ['SUCCESS']
  if (scenario === 'bet' || scenario === 'bet-retried') return ['SUCCESS', 'ROLLED_BACK']
  return scenario === 'refund' ? ['REFUNDED'] : ['ROLLED_BACK']
}

const ended = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null

/** The calls of the scenario, in order; the service dies during one of them. */
function requestsOf(scenario: Scenario, spec: MovementSpec, client: ReturnType<typeof clientOf>) {
  const back = (type: 'REFUND' | 'ROLLBACK') => [
    () => client.place(spec),
    () => client.place(reversalOf(spec, type)),
  ]
  if (scenario === 'refund') return back('REFUND')
  if (scenario === 'rollback') return back('ROLLBACK')
  if (scenario === 'void') return [() => client.void(spec)]
  return [() => client.place(spec)]
}

const environment = suite.environment()
const prepared = await Promise.all(cases.map(prepare))

async function prepare([scenario, failpoint]: (typeof cases)[number], index: number) {
  const playerId = `crash${index}`
  const scope = newScope()
  const prefix = `${environment.PITBOSS_DATABASE_PREFIX}_case${index}`
  const caseEnvironment = { ...environment, PITBOSS_DATABASE_PREFIX: prefix }
  const storage = await connectStorage({
    url: suite.engines.mongodbUrl,
    database: `${prefix}_wallet_bridge`,
    logger: silentLogger,
  })
  t.teardown(() => storage.close())
  const secretBox = createSecretBox(parseKeyring(environment.PITBOSS_MASTER_KEYS ?? ''))
  await createWallets(storage.db, secretBox).create(
    scope,
    { url: wallet.url, timeoutMs: 1000, settleLosses: 'none' },
    secret,
    new Date(),
    () => sampleAuditEntry(),
  )
  const spec = specOf({ type: scenario.startsWith('win') ? 'WIN' : 'BET', playerId })
  return { scenario, failpoint, playerId, scope, caseEnvironment, spec, storage }
}
await wallet.setFaults(prepared.flatMap(({ scenario, playerId }) => faultsOf(scenario, playerId)))

for (const { scenario, failpoint, caseEnvironment, spec, scope } of prepared) {
  await t.test(`${scenario} dies at ${failpoint}`, async (t) => {
    const [name, hit] = failpoint.split('@')
    const armed = `${name}=kill${hit === undefined ? '' : `@${hit}`}`
    const child = spawnBridge(t, { ...caseEnvironment, PITBOSS_FAILPOINTS: armed })
    t.teardown(() => child.kill('SIGKILL'))
    const client = clientOf(suite.bus, scope)
    await waitFor(
      async () => {
        const shown = await client.show('nothing').catch(() => 'not yet')
        return shown === null
      },
      { what: 'the service answers', timeoutMs: startTimeoutMs },
    )
    for (const send of requestsOf(scenario, spec, client)) {
      // The caller of a process that dies may get an answer or none; both are right.
      const answered = send().catch(() => null)
      await Promise.race([answered, waitFor(() => ended(child), { what: 'it died', timeoutMs: 20_000 })])
    }
    await waitFor(() => ended(child), { what: 'it died', timeoutMs: 20_000 })
    t.equal(child.signalCode, 'SIGKILL')
  })
}

await t.test(
  'another process ends a stake in time when its process dies right after the debit',
  async (t) => {
    const { scope, caseEnvironment } = await prepare(['bet', 'wallet.debit-answered'], cases.length)
    const child = spawnBridge(t, { ...caseEnvironment, PITBOSS_FAILPOINTS: 'wallet.debit-answered=kill' })
    const client = clientOf(suite.bus, scope)
    await waitFor(async () => (await client.show('none').catch(() => 'not yet')) === null, {
      what: 'the service answers',
      timeoutMs: startTimeoutMs,
    })
    const spec = specOf({ playerId: 'neighbour' })
    // The call waits for its deadline, and the test does not wait for the call.
    void client.place(spec).catch(() => null)
    await waitFor(() => ended(child), { what: 'it died', timeoutMs: 10_000 })
    const bridge = await startBridge(caseEnvironment)
    t.teardown(() => bridge.stop())
    await waitFor(
      async () => {
        return (await client.show(spec.transactionId))?.movement.status === 'SUCCESS'
      },
      { what: 'the stake is taken', timeoutMs: 10_000 },
    )
    const debits = (await wallet.ledger({ transaction_id: spec.transactionId })).length
    t.equal(debits, 1)
  },
)

await t.test('another process ends them all, and the books are right', async (t) => {
  const bridges = await Promise.all(prepared.map(({ caseEnvironment }) => startBridge(caseEnvironment)))
  t.teardown(() => Promise.all(bridges.map((bridge) => bridge.stop())))
  t.teardown(await acknowledgeEvents(suite.bus.nc))
  for (const { scenario, failpoint, playerId, spec, scope, storage } of prepared) {
    const what = `${scenario} at ${failpoint}`
    const movements = createMovements(storage.db)
    await waitFor(
      async () => {
        const open = await movements.collection.findOne({
          $or: [{ status: 'PENDING' }, { outboxAt: { $gt: new Date(0) } }, { dueAt: { $gt: new Date(0) } }],
        })
        return open === null
      },
      { what: `${what} has ended`, timeoutMs: 40_000 },
    )
    const all = await movements.collection.find({}).toArray()
    const stake = await movements.find(scope, spec.transactionId)
    const ledger = (await wallet.ledger({ player_id: playerId })).filter((e) => e.operation !== 'adjustment')
    const net = ledger.reduce((sum, { effect }) => sum + Math.round(Number.parseFloat(effect) * 100), 0)
    if (failpoint === 'wallet.before-intent') {
      t.equal(stake, null, `${what}: nothing was stored`)
      t.equal(net, 0, `${what}: nothing moved`)
      continue
    }
    const status = stake?.status ?? 'missing'
    const ends = endsOf(scenario)
    t.ok(ends.includes(status), `${what}: ${status}`)
    const effect = { SUCCESS: stake?.type === 'WIN' ? 1000 : -1000 }
    t.equal(net, new Map(Object.entries(effect)).get(status) ?? 0, `${what}: net effect of ${status}`)
    const events = await waitFor(
      () => {
        const found = suite.eventsOf(spec.transactionId)
        return found.length > 0 ? found : null
      },
      { what: `${what}: its events are out`, timeoutMs: 10_000 },
    )
    const ids = new Set(events.map(({ id }) => id))
    const facts = new Set(events.map(({ type, data }) => `${type} ${String(data.transaction_id)}`))
    t.equal(ids.size, facts.size, `${what}: each fact is one event`)
    t.equal(all.filter(({ type }) => type === 'BET' || type === 'WIN').length, 1)
    t.ok(
      all.filter(({ type }) => type === 'REFUND' || type === 'ROLLBACK').length <= 1,
      `${what}: one reversal`,
    )
  }
})
