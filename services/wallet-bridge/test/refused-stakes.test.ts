import {
  opsMovementEvents,
  opsMovementsOfRound,
  opsPlayerMovements,
  opsResolveMovement,
} from '@pitboss/contracts/calls/wallet-ops'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { reversalOf, specOf, startBridge, startSuite } from './fixtures/bridge.ts'
import { openWallet } from './fixtures/open-wallet.ts'
import { type FaultRule } from './fixtures/sandbox-wallet.ts'

const suite = await startSuite(t)
for (const bridge of [await startBridge(suite.environment()), await startBridge(suite.environment())]) {
  t.teardown(() => bridge.stop())
}
// A busy machine may need more than a second for 128 requests at once.
const { wallet, scope, client } = await openWallet(t, suite.bus, { timeout_ms: 15_000 })
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

/** A wallet that answers a debit of the player in a word of its own. */
function inOwnWord(
  playerId: string,
  { apply, code = 'RS_OK' }: { apply: boolean; code?: string },
): FaultRule {
  return { operation: 'debit', player_id: playerId, kind: 'refuse', code, http_status: 202, apply }
}
const rejected = { kind: 'refused', code: 'WALLET_REJECTED' }

/** The rollback that the service owes for a stake, once the wallet has acknowledged it. */
async function rollbackOf(playerId: string) {
  return waitFor(async () => {
    const { data } = await suite.bus.call(opsPlayerMovements, { scope, playerId, before: null })
    const found = data.find(({ movement }) => movement.type === 'ROLLBACK')?.movement
    return found?.status === 'SUCCESS' ? found : undefined
  })
}

t.test('a wallet that takes a stake and says so in its own words keeps nothing of it', async (t) => {
  await wallet.setFaults([
    inOwnWord('taken', { apply: true }),
    inOwnWord('not-taken', { apply: false, code: 'DECLINED BY BANK' }),
  ])
  for (const [playerId, code] of [
    ['taken', 'RS_OK'],
    ['not-taken', 'DECLINED BY BANK'],
  ] as const) {
    const spec = specOf({ playerId })
    const placed = await client.place(spec)
    t.match(placed, { outcome: rejected, movement: { status: 'FAILED', wallet_code: code } })
    const rollback = await rollbackOf(playerId)
    t.match(rollback, { reference_transaction_id: spec.transactionId, amount: '10.00' })
    t.match(rollback.transaction_id, /^rbk_/)
    t.match(await client.place(spec), { outcome: rejected, movement: { status: 'FAILED' }, created: false })
    t.match(await client.void(spec), { outcome: rejected, rollback: null })
    await t.rejects(client.place(reversalOf(spec, 'ROLLBACK')), { code: 'CONFLICT' })
    const standing = (await wallet.ledger({ player_id: playerId })).filter(
      ({ operation, status }) => operation === 'debit' && status === 'APPLIED',
    )
    t.same(standing, [])
    await waitFor(() => suite.eventsOf(spec.transactionId).length > 0)
    t.same(
      suite.eventsOf(spec.transactionId).map(({ type }) => type),
      ['transaction.failed'],
      'the rollback has no event',
    )
    t.same(suite.eventsOf(rollback.transaction_id), [])
    const told = await suite.bus.call(opsMovementEvents, { roundId: spec.roundId })
    t.same(
      told.data.map(({ type }) => type),
      ['transaction.failed'],
      'nor does operations make one of it',
    )
  }
})

t.test('a rollback of a refused stake holds up no play, and a person may end it', async (t) => {
  await wallet.setFaults([
    inOwnWord('silent', { apply: false }),
    { operation: 'rollback', player_id: 'silent', kind: 'http_error' },
  ])
  const spec = specOf({ playerId: 'silent', driver: 'operator' })
  t.match(await client.place(spec), { outcome: rejected })
  const pending = await waitFor(async () => {
    const { data } = await suite.bus.call(opsMovementsOfRound, { roundId: spec.roundId })
    return data.find(({ movement, attempts }) => movement.type === 'ROLLBACK' && attempts.length > 0)
  })
  t.match(pending.movement, { status: 'PENDING' })
  await wallet.setFaults([{ operation: 'rollback', player_id: 'silent', kind: 'http_error' }])
  const added = specOf({ ...spec, transactionId: `${spec.transactionId}2`, isAdded: true })
  t.match(await client.place(added), { outcome: { kind: 'done' } }, 'the next stake of the round is taken')
  const ended = await suite.bus.call(opsResolveMovement, {
    order: { by: 'ann', reason: 'the operator wrote that nothing stands', dryRun: false },
    reference: pending.movement.reference,
    as: 'failed',
  })
  t.equal(ended.status, 'FAILED')
  t.match(await client.show(spec.transactionId), { outcome: rejected, movement: { status: 'FAILED' } })
  t.same(suite.eventsOf(ended.transaction_id), [])
})
