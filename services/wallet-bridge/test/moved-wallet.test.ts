import { serveCalls, handler } from '@pitboss/bus/serve-calls'
import { countUnfinishedRounds } from '@pitboss/contracts/calls/rounds'
import { opsResolveMovement } from '@pitboss/contracts/calls/wallet-ops'
import type { Scope } from '@pitboss/contracts/caller'
import { putWallet } from '@pitboss/contracts/endpoints/wallet'
import { waitFor } from '@pitboss/testing/wait-for'
import t, { type Test } from 'tap'
import {
  callerOf,
  clientOf,
  configureWallet,
  newScope,
  reversalOf,
  silentLogger,
  specOf,
  startBridge,
  startSuite,
} from './fixtures/bridge.ts'
import { startSandboxWallet } from './fixtures/sandbox-wallet.ts'

const suite = await startSuite(t)
const unfinished = new Map<string, number>()
const rounds = await serveCalls({
  ...{ bus: suite.bus, service: 'rounds', version: '1', logger: silentLogger },
  handlers: [
    handler(countUnfinishedRounds, async ({ scope }) => ({ count: unfinished.get(scope.operatorId) ?? 0 })),
  ],
})
t.teardown(() => rounds.stop())
const bridge = await startBridge(suite.environment({ timeScale: 60 }))
t.teardown(() => bridge.stop())

/** A tenant with a wallet, and a second wallet that knows the same secret. */
async function tenant(t: Test) {
  const [old, next] = [await startSandboxWallet(t, 'x'), await startSandboxWallet(t, 'x')]
  const scope = newScope()
  const secret = await configureWallet(suite.bus, scope, old.url)
  await old.setSecret(secret)
  await next.setSecret(secret)
  return { scope, old, next, client: clientOf(suite.bus, scope) }
}

const move = (scope: Scope, url: string, change: { same_ledger?: boolean } = {}) =>
  suite.bus.call(putWallet.call, {
    caller: callerOf(scope),
    params: { environment: 'TEST' },
    query: {},
    body: { url, timeout_ms: 1000, settle_losses: 'none', ...change },
  })

await t.test('a wallet stays where movements or rounds are open', async (t) => {
  const { scope, old, next, client } = await tenant(t)
  await old.setFaults([{ operation: 'credit', kind: 'http_error', apply: true }])
  const win = specOf({ type: 'WIN' })
  t.match(await client.place(win), { movement: { status: 'PENDING' } })
  unfinished.set(scope.operatorId, 3)
  await t.rejects(move(scope, next.url), {
    code: 'CONFLICT',
    message: /^Unresolved movements: 1, unfinished rounds: 3\./,
  })
  t.equal((await move(scope, `${old.url}/`)).status, 200, 'the same origin may change its path')
  await old.clearFaults()
  await waitFor(async () => (await client.show(win.transactionId))?.movement.status === 'SUCCESS', {
    what: 'the win is credited',
  })
  await t.rejects(move(scope, next.url), { code: 'CONFLICT', message: /movements: 0, unfinished rounds: 3/ })
  unfinished.delete(scope.operatorId)
  t.equal((await move(scope, next.url)).status, 200)
  t.same(await next.calls({}), [], 'nothing of the old wallet was sent to the new one')
})

await t.test('a stake that was taken before a move is given back where it was taken', async (t) => {
  const { scope, old, next, client } = await tenant(t)
  const bet = specOf()
  await client.place(bet)
  await move(scope, next.url)
  const back = reversalOf(bet, 'ROLLBACK')
  t.match(await client.place(back), { movement: { status: 'SUCCESS', wallet_code: null } })
  t.match(await client.show(bet.transactionId), { movement: { status: 'ROLLED_BACK' } })
  t.same(
    (await old.ledger({ transaction_id: bet.transactionId })).map(({ effect }) => effect),
    ['-10.00', '10.00'],
  )
  t.same(await next.calls({}), [])
  const later = specOf()
  t.match(await client.place(later), { movement: { status: 'SUCCESS' } })
  t.equal((await next.calls({ transaction_id: later.transactionId })).length, 1)
})

await t.test('with the same ledger, what waits goes on at the new address', async (t) => {
  const { scope, old, next, client } = await tenant(t)
  await old.setFaults([{ operation: 'credit', kind: 'http_error', apply: false }])
  const win = specOf({ type: 'WIN' })
  t.match(await client.place(win), { movement: { status: 'PENDING' } })
  t.equal((await move(scope, next.url, { same_ledger: true })).status, 200)
  await waitFor(async () => (await client.show(win.transactionId))?.movement.status === 'SUCCESS', {
    what: 'the new address credits the win',
  })
  t.match(await next.calls({ transaction_id: win.transactionId }), [{ status: 'OK' }])
})

await t.test('a wallet that does not know a stake which it took acknowledges nothing', async (t) => {
  const { scope, next, client } = await tenant(t)
  const bet = specOf()
  t.match(await client.place(bet), { movement: { status: 'SUCCESS' } })
  await move(scope, next.url, { same_ledger: true })
  const back = reversalOf(bet, 'ROLLBACK')
  t.match(await client.place(back), {
    movement: { status: 'PENDING', wallet_code: 'TRANSACTION_NOT_FOUND' },
    outcome: { kind: 'pending', code: 'WALLET_UNAVAILABLE' },
  })
  t.match(await client.show(bet.transactionId), { movement: { status: 'SUCCESS' } })
  const order = { by: 'test', reason: 'looked at the ledger', dryRun: false }
  const ask = { reference: back.transactionId, as: 'success', order } as const
  const resolved = await waitFor(() => suite.bus.call(opsResolveMovement, ask).catch(() => null), {
    what: 'a person resolves it',
  })
  t.match(resolved, { status: 'SUCCESS' })
  t.match(await client.show(bet.transactionId), { movement: { status: 'ROLLED_BACK' } })
})

await t.test(
  'a rollback of a stake that no wallet acknowledged is done when the wallet knows none',
  async (t) => {
    const { old, client } = await tenant(t)
    await old.setFaults([{ operation: 'debit', kind: 'drop', apply: false }])
    const bet = specOf()
    await client.place(bet)
    const { stake, rollback } = await client.void(bet)
    t.match([stake, rollback], [{ status: 'ROLLED_BACK' }, { status: 'SUCCESS' }])
    t.equal(rollback?.wallet_code, 'TRANSACTION_NOT_FOUND')
  },
)

await t.test('a lost round that no wallet was told of can be rolled back', async (t) => {
  const { client } = await tenant(t)
  const lost = specOf({ type: 'WIN', amount: '0.00' })
  t.match(await client.place(lost), { movement: { status: 'SUCCESS' } })
  t.match(await client.place(reversalOf(lost, 'ROLLBACK')), { movement: { status: 'SUCCESS' } })
  t.match(await client.show(lost.transactionId), { movement: { status: 'ROLLED_BACK' } })
})
