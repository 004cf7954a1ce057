import { newId } from '@pitboss/runtime/new-id'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { reversalOf, specOf, startBridge, startSuite } from './fixtures/bridge.ts'
import { openWallet } from './fixtures/open-wallet.ts'

const suite = await startSuite(t)
const bridge = await startBridge(suite.environment({ timeScale: 60 }))
t.teardown(() => bridge.stop())
const { wallet, client } = await openWallet(t, suite.bus)

await t.test('a stake is debited once and its event follows', async (t) => {
  const spec = specOf()
  const { movement, outcome, created } = await client.place(spec)
  t.match(movement, { status: 'SUCCESS', amount: '10.00', balance_after: '990.00', wallet_code: null })
  t.same(outcome, { kind: 'done' })
  t.equal(created, true)
  const again = await client.place(spec)
  t.equal(again.created, false)
  t.same(again.movement, movement)
  t.equal((await wallet.calls({ transaction_id: spec.transactionId })).length, 1)
  const [event] = await waitFor(
    () => (suite.eventsOf(spec.transactionId).length > 0 ? suite.eventsOf(spec.transactionId) : null),
    { what: 'the event is out' },
  )
  t.match(event, { type: 'transaction.bet', data: { type: 'BET', status: 'SUCCESS', amount: '10.00' } })
})

await t.test('50 parallel requests with one id are applied once', async (t) => {
  const spec = specOf({ playerId: 'parallel' })
  const answers = await Promise.all(Array.from({ length: 50 }, () => client.place(spec)))
  t.equal(answers.filter(({ created }) => created).length, 1)
  t.ok(answers.every(({ movement }) => movement.status === 'SUCCESS'))
  t.equal((await wallet.ledger({ transaction_id: spec.transactionId })).length, 1)
})

await t.test('another request with the same id moves no money', async (t) => {
  const spec = specOf()
  await client.place(spec)
  await t.rejects(client.place({ ...spec, requestHash: 'other' }), { code: 'TRANSACTION_CONFLICT' })
})

await t.test(
  'one id for the same bet in two rounds is one debit, and the other round is refused',
  async (t) => {
    const spec = specOf({ playerId: 'twin-a' })
    const twin = { ...spec, roundId: newId('rnd'), playerId: 'twin-b' }
    const results = await Promise.allSettled([client.place(spec), client.place(twin)])
    t.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
    t.match(
      results.find(({ status }) => status === 'rejected'),
      { reason: { code: 'TRANSACTION_CONFLICT' } },
    )
    t.equal((await wallet.ledger({ transaction_id: spec.transactionId })).length, 1)
    await t.rejects(
      client.place(twin).then(() => client.place(spec)),
      { code: 'TRANSACTION_CONFLICT' },
    )
  },
)

await t.test('a definite refusal on the first try is final, and is repeated without a call', async (t) => {
  const spec = specOf({ playerId: 'broke' })
  const { movement, outcome } = await client.place(spec)
  t.match(movement, { status: 'FAILED', wallet_code: 'INSUFFICIENT_FUNDS' })
  t.same(outcome, { kind: 'refused', code: 'INSUFFICIENT_FUNDS' })
  t.same((await client.place(spec)).outcome, outcome)
  t.equal((await wallet.calls({ transaction_id: spec.transactionId })).length, 1)
  const [event] = await waitFor(
    () => (suite.eventsOf(spec.transactionId).length > 0 ? suite.eventsOf(spec.transactionId) : null),
    { what: 'the event is out' },
  )
  t.match(event, {
    type: 'transaction.failed',
    data: { status: 'FAILED', code: 'INSUFFICIENT_FUNDS', wallet_code: 'INSUFFICIENT_FUNDS' },
  })
})

await t.test('a retry with the same bytes learns that a stake without an answer was applied', async (t) => {
  const spec = specOf({ playerId: 'dropped' })
  await wallet.setFaults([{ operation: 'debit', player_id: 'dropped', kind: 'drop', apply: true, count: 1 }])
  const first = await client.place(spec)
  t.match(first.outcome, { kind: 'pending', code: 'WALLET_UNAVAILABLE', rollbackOwed: false })
  await waitFor(
    async () => {
      return (await client.show(spec.transactionId))?.movement.status === 'SUCCESS'
    },
    { what: 'the stake is taken' },
  )
  const calls = await wallet.calls({ transaction_id: spec.transactionId })
  t.equal(calls.length, 2)
  t.equal(new Set(calls.map(({ body }) => body)).size, 1)
  t.equal(new Set(calls.map(({ headers }) => headers['x-timestamp'])).size, 2)
  t.equal((await wallet.ledger({ transaction_id: spec.transactionId })).length, 1)
})

await t.test('a stake whose tries are spent is rolled back, whether or not the wallet took it', async (t) => {
  const spec = specOf({ playerId: 'spent' })
  await wallet.setFaults([{ operation: 'debit', player_id: 'spent', kind: 'http_error', apply: true }])
  await client.place(spec)
  await waitFor(async () => (await client.show(spec.transactionId))?.movement.status === 'ROLLED_BACK', {
    what: 'the stake is rolled back',
  })
  t.same((await client.place(spec)).outcome, { kind: 'done' })
  const ledger = await wallet.ledger({ player_id: 'spent' })
  t.same(
    ledger.filter(({ operation }) => operation !== 'adjustment').map(({ effect }) => effect),
    ['-10.00', '10.00'],
  )
  const events = await waitFor(
    () => {
      const found = suite.eventsOf(spec.transactionId)
      return found.length > 0 ? found : null
    },
    { what: 'the event is out' },
  )
  t.same(
    events.map(({ type, data }) => [type, data.reference_transaction_id]),
    [['transaction.rollback', spec.transactionId]],
  )
})

await t.test('a credit is retried until the wallet acknowledges, a refusal included', async (t) => {
  const spec = specOf({ type: 'WIN', playerId: 'credited' })
  await wallet.setFaults([
    { operation: 'credit', player_id: 'credited', kind: 'refuse', code: 'PLAYER_BLOCKED', count: 2 },
  ])
  const first = await client.place(spec)
  t.match(first.outcome, { kind: 'pending', code: 'WALLET_UNAVAILABLE' })
  t.equal(first.movement.wallet_code, 'PLAYER_BLOCKED')
  await waitFor(
    async () => {
      return (await client.show(spec.transactionId))?.movement.status === 'SUCCESS'
    },
    { what: 'the win is credited' },
  )
  t.equal((await wallet.calls({ transaction_id: spec.transactionId })).length, 3)
})

await t.test('a credit is refused while no stake of its round is taken', async (t) => {
  const stake = specOf({ playerId: 'standing', driver: 'operator' })
  const win = (roundClosed: boolean) => ({
    ...stake,
    type: 'WIN' as const,
    transactionId: newId('win'),
    roundClosed,
  })
  await client.place(stake)
  t.equal((await client.place(win(false))).movement.status, 'SUCCESS')
  await wallet.setFaults([
    { operation: 'credit', player_id: 'standing', kind: 'http_error', http_status: 503 },
  ])
  const refund = reversalOf(stake, 'REFUND')
  t.match(await client.place(refund), { outcome: { kind: 'pending' } })
  await t.rejects(client.place(win(false)), { code: 'ROUND_IN_PROGRESS' }, 'its stake is on its way back')
  await wallet.clearFaults()
  await waitFor(async () => (await client.show(refund.transactionId))?.movement.status === 'SUCCESS')
  await t.rejects(client.place(win(false)), { code: 'ROUND_ALREADY_SETTLED' })
  await t.rejects(client.place({ ...win(true), amount: '0.00' }), { code: 'ROUND_ALREADY_SETTLED' })
})

await t.test('a final credit is refused while a stake of the round is pending', async (t) => {
  const stake = specOf({ playerId: 'early' })
  await wallet.setFaults([{ operation: 'debit', player_id: 'early', kind: 'drop' }])
  await client.place(stake)
  const win = { ...specOf({ type: 'WIN', playerId: 'early' }), roundId: stake.roundId }
  await t.rejects(client.place(win), { code: 'ROUND_IN_PROGRESS' })
  t.equal(await client.show(win.transactionId), null)
})
