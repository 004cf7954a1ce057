import { waitFor } from '@pitboss/testing/wait-for'
import { readEntries } from '@pitboss/testing/stored-entries'
import t from 'tap'
import { z } from 'zod'
import { type MoneyEntry, moneyStream } from '../src/storage/round-money.ts'
import { reversalOf, specOf, startBridge, startSuite } from './fixtures/bridge.ts'
import { openWallet } from './fixtures/open-wallet.ts'

const suite = await startSuite(t)
const bridge = await startBridge(suite.environment({ timeScale: 60 }))
t.teardown(() => bridge.stop())
const { wallet, client, scope } = await openWallet(t, suite.bus)

await t.test('of a refund and a rollback of one bet exactly one is made', async (t) => {
  const bet = specOf({ playerId: 'reversed', driver: 'operator' })
  await client.place(bet)
  const contenders = Array.from({ length: 10 }, (_, n) =>
    reversalOf(bet, n % 2 === 0 ? 'REFUND' : 'ROLLBACK'),
  )
  const results = await Promise.allSettled(contenders.map((spec) => client.place(spec)))
  t.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
  for (const result of results) {
    if (result.status === 'rejected') t.match(result.reason, { code: 'TRANSACTION_ALREADY_REVERSED' })
  }
  const ledger = await wallet.ledger({ player_id: 'reversed' })
  const moved = ledger.filter(({ operation }) => operation !== 'adjustment')
  t.same(
    moved.map(({ effect }) => effect),
    ['-10.00', '10.00'],
  )
})

await t.test('one entry begins a refund with its bet, and one ends both', async (t) => {
  const bet = specOf({ playerId: 'refunded', driver: 'operator' })
  await client.place(bet)
  const refund = reversalOf(bet, 'REFUND')
  t.match(await client.place(refund), { movement: { status: 'SUCCESS' }, created: true })
  const stream = moneyStream({ ...scope, roundId: bet.roundId })
  const entries: MoneyEntry[] = await readEntries(suite.storage.db, stream)
  const changed = entries.map(({ f }) =>
    f.map((fact) => ('base' in fact ? fact.base.transactionId : 'of' in fact ? fact.of : '')),
  )
  const both = [refund.transactionId, bet.transactionId]
  t.same(changed, [[bet.transactionId], [bet.transactionId], both, both])
})

await t.test('a voided stake that was never placed cannot be taken later', async (t) => {
  const spec = specOf({ playerId: 'voided' })
  const voided = await client.void(spec)
  t.match(voided, {
    stake: { status: 'ROLLED_BACK' },
    rollback: { status: 'SUCCESS', wallet_code: 'TRANSACTION_NOT_FOUND' },
    outcome: { kind: 'done' },
  })
  t.match(await client.place(spec), { movement: { status: 'ROLLED_BACK' }, created: false })
  t.equal((await wallet.calls({ operation: 'debit', player_id: 'voided' })).length, 0)
})

await t.test('a rollback of its own closes the round, but not that of a stake that was added', async (t) => {
  const fault = (player_id: string) => ({ operation: 'debit', player_id, kind: 'http_error' }) as const
  await wallet.setFaults([fault('first'), fault('added')])
  const isClosed = async (playerId: string, change: { isAdded?: true }) => {
    const stake = specOf({ playerId, driver: 'operator', ...change })
    await client.place(stake)
    await client.void(specOf({ playerId, driver: 'operator', ...change }))
    await waitFor(async () => (await client.show(stake.transactionId))?.movement.status === 'ROLLED_BACK', {
      what: 'the stake whose tries are spent is rolled back',
    })
    const calls = await wallet.calls({ operation: 'rollback', player_id: playerId })
    const bodies = calls.map(({ body }) => z.object({ roundClosed: z.boolean() }).parse(JSON.parse(body)))
    t.equal(bodies.length, 2)
    return bodies.map(({ roundClosed }) => roundClosed)
  }
  const both = [isClosed('first', {}), isClosed('added', { isAdded: true })]
  t.same(await Promise.all(both), [
    [true, true],
    [false, false],
  ])
})

await t.test('a rollback that overtakes its stake voids it, and the stake is never taken', async (t) => {
  const stake = specOf({ playerId: 'overtaken', driver: 'operator' })
  const rollback = reversalOf(stake, 'ROLLBACK', 'rollback')
  const placed = await client.place(rollback, stake)
  t.match(placed, { created: true, movement: { status: 'SUCCESS', type: 'ROLLBACK' } })
  t.match(await client.show(stake.transactionId), { movement: { status: 'ROLLED_BACK' } })
  t.match(await client.place(stake), { created: false, movement: { status: 'ROLLED_BACK' } })
  t.match(await client.place(rollback, stake), { created: false, movement: placed.movement })
  const calls = await wallet.calls({ transaction_id: stake.transactionId })
  t.equal(calls.length, 0, 'the wallet was never asked for the stake')
  const other = reversalOf(stake, 'ROLLBACK', 'other')
  await t.rejects(client.place(other, stake), { code: 'TRANSACTION_ALREADY_REVERSED' })
  const unknown = reversalOf(specOf(), 'ROLLBACK')
  await t.rejects(client.place(unknown), { code: 'TRANSACTION_NOT_FOUND' }, 'without its stake')
})

await t.test('a rollback in parallel with its stake is one rollback of one stake', async (t) => {
  const stakes = Array.from({ length: 20 }, () => specOf({ playerId: 'meeting', driver: 'operator' }))
  for (const stake of stakes) {
    const rollback = reversalOf(stake, 'ROLLBACK', 'rollback')
    await Promise.all([client.place(stake), client.place(rollback, stake), client.place(rollback, stake)])
    const ends = await waitFor(async () => {
      const shown = await client.show(rollback.transactionId)
      return shown?.movement.status === 'SUCCESS' ? await client.show(stake.transactionId) : null
    })
    t.equal(ends.movement.status, 'ROLLED_BACK')
    const ledger = await wallet.ledger({ transaction_id: stake.transactionId })
    const standing = ledger.filter(({ operation, status }) => operation === 'debit' && status === 'APPLIED')
    t.same(standing, [])
  }
})

await t.test('a void while the debit is in flight ends with nothing taken', async (t) => {
  const spec = specOf({ playerId: 'inflight' })
  await wallet.setFaults([{ operation: 'debit', player_id: 'inflight', kind: 'delay', delay_ms: 700 }])
  const placing = client.place(spec)
  await waitFor(async () => (await client.show(spec.transactionId)) !== null, {
    what: 'the intent is stored',
  })
  const voided = await client.void(spec)
  t.match(voided.stake, { status: 'ROLLED_BACK' })
  await placing
  const moved = (await wallet.ledger({ player_id: 'inflight' })).filter((e) => e.operation !== 'adjustment')
  t.equal(
    moved.reduce((sum, { effect }) => sum + Number.parseFloat(effect), 0),
    0,
  )
})

await t.test(
  'a debit that finds its own tombstone ends rolled back, and its caller is refused',
  async (t) => {
    const spec = specOf({ playerId: 'buried' })
    await wallet.setFaults([
      {
        operation: 'debit',
        player_id: 'buried',
        kind: 'refuse',
        code: 'TRANSACTION_ROLLED_BACK',
        http_status: 409,
      },
    ])
    const { movement, outcome } = await client.place(spec)
    t.match(movement, { status: 'ROLLED_BACK', wallet_code: 'TRANSACTION_ROLLED_BACK' })
    t.same(outcome, { kind: 'refused', code: 'WALLET_REJECTED' })
    t.same((await client.place(spec)).outcome, outcome)
    const [event] = await waitFor(
      () => {
        const found = suite.eventsOf(spec.transactionId)
        return found.length > 0 ? found : null
      },
      { what: 'the event is out' },
    )
    t.match(event, { type: 'transaction.rollback', data: { status: 'SUCCESS', type: 'BET' } })
  },
)

await t.test(
  'a reversal of an unknown movement, with a wrong amount or with a used id moves no money',
  async (t) => {
    const bet = specOf({ playerId: 'strict', driver: 'operator' })
    await client.place(bet)
    const refund = reversalOf(bet, 'REFUND')
    await t.rejects(client.place({ ...refund, referenceTransactionId: 'bet_unknown' }), {
      code: 'TRANSACTION_NOT_FOUND',
    })
    await t.rejects(client.place({ ...refund, amount: '9.99' }), {
      code: 'VALIDATION_ERROR',
      details: [{ path: 'amount' }],
    })
    await t.rejects(client.place({ ...refund, transactionId: bet.transactionId }), {
      code: 'TRANSACTION_CONFLICT',
    })
    t.match(await client.show(bet.transactionId), { movement: { status: 'SUCCESS' } })
    const { movement } = await client.place(refund)
    t.match(movement, { status: 'SUCCESS', reference_transaction_id: bet.transactionId })
    t.equal((await client.place(refund)).created, false)
    t.match(await client.show(bet.transactionId), { movement: { status: 'REFUNDED' } })
    const [event] = await waitFor(
      () => {
        const found = suite.eventsOf(refund.transactionId)
        return found.length > 0 ? found : null
      },
      { what: 'the event is out' },
    )
    t.match(event, { type: 'transaction.bet', data: { type: 'REFUND', status: 'SUCCESS' } })
  },
)
