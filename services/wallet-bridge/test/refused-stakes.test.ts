import t from 'tap'
import {
  clientOf,
  configureWallet,
  newScope,
  reversalOf,
  specOf,
  startBridge,
  startSuite,
} from './fixtures/bridge.ts'
import { startSandboxWallet } from './fixtures/sandbox-wallet.ts'

const suite = await startSuite(t)
for (const bridge of [await startBridge(suite.environment()), await startBridge(suite.environment())]) {
  t.teardown(() => bridge.stop())
}
const wallet = await startSandboxWallet(t, 'not yet known')
const scope = newScope()
// A busy machine may need more than a second for 128 requests at once.
await wallet.setSecret(await configureWallet(suite.bus, scope, wallet.url, { timeout_ms: 15_000 }))
const client = clientOf(suite.bus, scope)
const atOnce = 16
const refusal = { kind: 'refused', code: 'INSUFFICIENT_FUNDS' }

t.test('a refused stake calls its wallet once, however often it is repeated', async (t) => {
  const specs = Array.from({ length: 8 }, () => specOf({ amount: '5000.00' }))
  for (let wave = 1; wave <= 3; wave++) {
    const placed = await Promise.all(
      specs.flatMap((spec) => Array.from({ length: atOnce }, () => client.place(spec))),
    )
    t.same(new Set(placed.map(({ outcome }) => JSON.stringify(outcome))), new Set([JSON.stringify(refusal)]))
    t.equal(placed.filter(({ created }) => created).length, wave === 1 ? specs.length : 0)
    for (const { transactionId } of specs) {
      t.equal((await wallet.calls({ transaction_id: transactionId })).length, 1, `wave ${wave}`)
    }
  }
})

t.test('a refused stake cannot be given back, and the request calls no wallet', async (t) => {
  const spec = specOf({ amount: '5000.00' })
  t.match((await client.place(spec)).outcome, refusal)
  t.match(await client.void(spec), { outcome: refusal, rollback: null })
  await t.rejects(client.place(reversalOf(spec, 'ROLLBACK')), { code: 'CONFLICT' })
  await t.rejects(client.place(reversalOf(spec, 'REFUND')), { code: 'CONFLICT' })
  t.match(await client.show(spec.transactionId), { outcome: refusal, movement: { status: 'FAILED' } })
  const calls = await wallet.calls({})
  t.equal(calls.filter(({ body }) => body.includes(spec.transactionId)).length, 1)
})
