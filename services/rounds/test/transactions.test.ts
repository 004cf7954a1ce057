import * as endpoints from '@pitboss/contracts/endpoints/rounds'
import type { TransactionBody } from '@pitboss/contracts/objects/movement'
import { verifyRound } from '@pitboss/fairness/verify-round'
import t from 'tap'
import { codeOf, errorOf, type Rig, startRig } from './fixtures/rounds-rig.ts'

let counter = 0
const nextId = () => `op-${++counter}`

type Loose = Record<string, unknown> & { type: string }

/** @param withinMs how long the call may take */
async function send(rig: Rig, body: Loose, withinMs?: number) {
  const parsed = endpoints.placeTransaction.call.request
  const request = parsed.parse({
    caller: rig.caller(),
    params: {},
    query: {},
    body: { transaction_id: nextId(), ...body } as unknown as TransactionBody,
  })
  const context = withinMs === undefined ? {} : { deadlineAtMs: Date.now() + withinMs }
  return rig.bus.call(endpoints.placeTransaction.call, request, { requestId: 'req', ...context })
}

async function bet(rig: Rig, session: { session_id: string }, more: Record<string, unknown> = {}) {
  const { session_id } = session
  return send(rig, { type: 'BET', session_id, amount: '10.00', currency: 'USD', ...more })
}

t.test('a round that the operator drives', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession()
  const body = { transaction_id: 'b1', amount: '10.0' }
  const placed = await bet(rig, session, body)
  t.match(placed, { status: 201, body: { transaction_id: 'b1', status: 'SUCCESS', amount: '10.00' } })
  const roundId = placed.body.round_id
  const repeated = await bet(rig, session, { ...body, amount: '10.00' })
  t.same(repeated, { ...placed, status: 200 }, 'the same meaning, the same record')
  t.equal(await codeOf(bet(rig, session, { ...body, amount: '11.00' })), 'TRANSACTION_CONFLICT')
  t.equal(await codeOf(bet(rig, session)), 'ROUND_IN_PROGRESS', 'a second round')

  const added = await bet(rig, session, { round_id: roundId, amount: '5.00', transaction_id: 'b2' })
  t.equal(added.status, 201)
  t.match(await rig.round(roundId), { status: 'OPEN', stake: '15.00', driver: 'operator', multiplier: null })
  const win = (more: Record<string, unknown>) =>
    send(rig, { type: 'WIN', round_id: roundId, amount: '3.00', currency: 'USD', ...more })
  t.equal(await codeOf(win({ currency: 'EUR' })), 'CURRENCY_MISMATCH')
  t.equal((await win({ final: false })).status, 201)
  t.equal((await rig.round(roundId)).status, 'OPEN')

  const refund = (more: Record<string, unknown>) =>
    send(rig, { type: 'REFUND', reference_transaction_id: 'b2', ...more })
  t.equal(await codeOf(refund({ amount: '4.00' })), 'VALIDATION_ERROR')
  t.equal(await codeOf(refund({ reference_transaction_id: 'none' })), 'TRANSACTION_NOT_FOUND')
  t.equal((await refund({ amount: '5.00', currency: 'USD' })).status, 201)
  t.equal(await codeOf(refund({})), 'TRANSACTION_ALREADY_REVERSED')
  t.equal((await rig.round(roundId)).stake, '10.00')

  const final = await win({ transaction_id: 'w1', amount: '20.00', outcome: { reels: [7, 7, 7] } })
  t.equal(final.status, 201)
  const settled = await rig.round(roundId)
  t.match(settled, { status: 'SETTLED', payout: '23.00', outcome: { reels: [7, 7, 7] } })
  t.ok(verifyRound(settled).valid, 'its commitment verifies')
  const refused = await errorOf(win({}))
  t.equal(refused.code, 'ROUND_ALREADY_SETTLED')
  t.match(refused.details, [{ path: 'transaction_id', message: /refused under another one, too/ }])
  t.equal(await codeOf(refund({ reference_transaction_id: 'b1' })), 'ROUND_ALREADY_SETTLED')
  const rollback = { type: 'ROLLBACK', reference_transaction_id: 'w1' }
  t.equal((await send(rig, rollback)).status, 201)
  t.equal((await rig.round(roundId)).status, 'SETTLED', 'a win rolled back leaves the round settled')
  t.equal(await codeOf(send(rig, rollback)), 'TRANSACTION_ALREADY_REVERSED')
})

t.test('a rollback that wallet-bridge made itself cannot be given back', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession()
  const { round_id } = (await bet(rig, session)).body
  t.equal((await bet(rig, session, { round_id })).status, 201)
  t.match(rig.wallet.asked, [{ isAdded: undefined }, { isAdded: true }], 'which stakes were added is told')
  rig.wallet.store(rig.scope, { type: 'ROLLBACK', transactionId: 'rbk_own' })
  rig.wallet.store(rig.scope, { type: 'BET', transactionId: 'bet_lost' })
  for (const type of ['REFUND', 'ROLLBACK']) {
    const error = await errorOf(send(rig, { type, reference_transaction_id: 'rbk_own' }))
    t.match(error, { code: 'VALIDATION_ERROR', details: [{ path: 'reference_transaction_id' }] })
    const unknown = send(rig, { type, reference_transaction_id: 'bet_lost' })
    t.equal(await codeOf(unknown), 'TRANSACTION_NOT_FOUND', 'a stake of no round')
  }
})

t.test('a win that a person gave up is no win to roll back', async (t) => {
  const rig = await startRig(t)
  const { round_id } = (await bet(rig, await rig.openSession())).body
  rig.wallet.next({ kind: 'pending', code: 'WALLET_TIMEOUT' })
  const win = { type: 'WIN', transaction_id: 'given-up', round_id, amount: '3.00', currency: 'USD' }
  t.equal(await codeOf(send(rig, win)), 'WALLET_TIMEOUT')
  rig.wallet.end(rig.scope, 'given-up', 'FAILED')
  await rig.until(async () => (await rig.round(round_id)).status === 'SETTLED')
  const rollback = { type: 'ROLLBACK', reference_transaction_id: 'given-up' }
  t.equal(await codeOf(send(rig, rollback)), 'CONFLICT')
})

t.test('giving back the last stake voids the round', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession()
  const placed = await bet(rig, session, { transaction_id: 'last' })
  await send(rig, { type: 'REFUND', reference_transaction_id: 'last' })
  t.match(await rig.round(placed.body.round_id), { status: 'VOIDED', payout: '0.00' })
  const completed = await rig.until(async () => {
    const found = (await rig.events()).filter(({ type }) => type === 'round.completed')
    return found.length > 0 ? found : null
  })
  t.equal(completed.length, 1)
  t.match(completed[0]?.data, { status: 'VOIDED', end_reason: 'refunded' })
  t.equal((await bet(rig, session)).status, 201, 'the next round may begin')
})

t.test(
  'a rollback that got lost and was overtaken by the end of its stake does not hold the round for ever',
  async (t) => {
    const rig = await startRig(t)
    const session = await rig.openSession()
    const ends = [
      ['ROLLED_BACK', { kind: 'done' }, 'VOIDED'],
      ['FAILED', { kind: 'refused', code: 'PLAYER_BLOCKED' }, 'FAILED'],
    ] as const
    for (const [status, outcome, ended] of ends) {
      const id = `overtaken-${status}`
      rig.wallet.next({ kind: 'pending', code: 'WALLET_TIMEOUT' }, { kind: 'lost' })
      const { resource } = await errorOf(bet(rig, session, { transaction_id: id }))
      const lost = { type: 'ROLLBACK', reference_transaction_id: id }
      t.equal(await codeOf(send(rig, lost)), 'WALLET_TIMEOUT')
      rig.wallet.end(rig.scope, id, status, outcome)
      await rig.until(async () => (await rig.round(resource?.round_id ?? '')).status === ended)
    }
    t.equal((await bet(rig, session)).status, 201, 'the next round may begin')
  },
)

t.test('a win that the wallet does not acknowledge holds up no refund of its round', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession()
  const placed = await bet(rig, session, { transaction_id: 'kept' })
  const round_id = placed.body.round_id
  await bet(rig, session, { transaction_id: 'returned', round_id })
  rig.wallet.next({ kind: 'pending', code: 'WALLET_TIMEOUT' }, { kind: 'lost' })
  const win = { type: 'WIN', round_id, amount: '3.00', currency: 'USD', final: false }
  t.equal(await codeOf(send(rig, win)), 'WALLET_TIMEOUT')
  const refund = { type: 'REFUND', reference_transaction_id: 'returned' }
  t.equal(await codeOf(send(rig, refund)), 'WALLET_TIMEOUT', 'it is unknown whether it was written')
  await rig.until(() => rig.wallet.asked.some(({ type }) => type === 'REFUND'))
  await rig.until(async () => (await rig.round(round_id)).stake === '10.00')
})

t.test('a rollback that overtakes its stake voids the round, and the stake is never taken', async (t) => {
  const rig = await startRig(t, { replicas: 2 })
  const session = await rig.openSession()
  const goOn = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  rig.wallet.next({ kind: 'late', until: goOn.promise, onCall: asked.resolve })
  const stake = bet(rig, session, { transaction_id: 'slow-stake' })
  const rollback = {
    type: 'ROLLBACK',
    transaction_id: 'overtaking',
    reference_transaction_id: 'slow-stake',
  }
  await asked.promise
  const back = await send(rig, rollback)
  t.match(back, { status: 201, body: { type: 'ROLLBACK', status: 'SUCCESS' } })
  t.match(await rig.round(back.body.round_id), { status: 'VOIDED', payout: '0.00' })
  goOn.resolve()
  t.match(await stake, { status: 200, body: { transaction_id: 'slow-stake', status: 'ROLLED_BACK' } })
  t.match(await send(rig, rollback), { status: 200, body: { transaction_id: 'overtaking' } })
  t.equal((await bet(rig, session)).status, 201, 'the next round may begin')
})

t.test(
  'a refusal is answered only after its intent was taken back: else the outcome is unknown',
  async (t) => {
    const rig = await startRig(t, { replicas: 2 })
    const session = await rig.openSession()
    const placed = await bet(rig, session, { transaction_id: 'before' })
    const goOn = Promise.withResolvers<void>()
    rig.wallet.next({ kind: 'late', until: goOn.promise, then: 'unwritten' })
    const win = { type: 'WIN', transaction_id: 'late-win', round_id: placed.body.round_id }
    const body = { ...win, amount: '3.00', currency: 'USD' }
    const first = errorOf(send(rig, body))
    await rig.until(() => rig.wallet.find(rig.scope, 'late-win') !== null, { what: 'a worker has placed it' })
    goOn.resolve()
    t.match(await first, { code: 'WALLET_TIMEOUT', resource: { transaction_id: 'late-win' } })
    t.match(await send(rig, body), { status: 200, body: { status: 'SUCCESS' } }, 'and it was paid')
  },
)

t.test('a stake that another write has touched is not reported as gone', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession()
  const goOn = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  const late = { kind: 'late', until: goOn.promise, then: 'unwritten', onCall: asked.resolve } as const
  rig.wallet.next(late, { kind: 'lost' })
  const first = errorOf(bet(rig, session, { transaction_id: 'touched' }))
  const back = { type: 'ROLLBACK', reference_transaction_id: 'touched', transaction_id: 'back' }
  await asked.promise
  await rig.until(async () => (await codeOf(send(rig, back))) === 'WALLET_TIMEOUT')
  goOn.resolve()
  t.match(await first, { code: 'WALLET_TIMEOUT', resource: { transaction_id: 'touched' } })
  const done = await rig.until(() => rig.wallet.find(rig.scope, 'back'), { what: 'the rollback is placed' })
  t.equal(rig.wallet.find(rig.scope, 'touched')?.movement.status, 'ROLLED_BACK')
  await rig.until(async () => (await rig.round(done.spec.roundId)).status === 'VOIDED')
})

t.test(
  'settlement that reaches no wallet-bridge is kept and done, and refusals for its sake stay',
  async (t) => {
    const rig = await startRig(t)
    const session = await rig.openSession()
    const placed = await bet(rig, session, { transaction_id: 'settled-later' })
    const away = { kind: 'unwritten', code: 'SERVICE_UNAVAILABLE' } as const
    rig.wallet.next(away)
    const refund = {
      type: 'REFUND',
      transaction_id: 'kept-refund',
      reference_transaction_id: 'settled-later',
    }
    const first = await errorOf(send(rig, refund))
    t.match(first, { code: 'WALLET_TIMEOUT', resource: { transaction_id: 'kept-refund' } })
    const other = { ...refund, type: 'ROLLBACK', transaction_id: 'beside-it' }
    t.equal(await codeOf(send(rig, other)), 'TRANSACTION_ALREADY_REVERSED')
    await rig.until(async () => (await rig.round(placed.body.round_id)).status === 'VOIDED')
    t.match(await send(rig, refund), { status: 200, body: { status: 'SUCCESS' } })
  },
)

t.test('a round is completed after its reversals, and its event agrees with its record', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession()
  const placed = await bet(rig, session, { transaction_id: 'kept-stake' })
  const round_id = placed.body.round_id
  await bet(rig, session, { transaction_id: 'given-back', round_id, amount: '5.00' })
  rig.wallet.next({ kind: 'pending', code: 'WALLET_TIMEOUT' })
  const refund = { type: 'REFUND', transaction_id: 'slow-refund', reference_transaction_id: 'given-back' }
  t.equal(await codeOf(send(rig, refund)), 'WALLET_TIMEOUT')
  const win = { type: 'WIN', round_id, amount: '20.00', currency: 'USD' }
  t.equal((await send(rig, win)).status, 201)
  t.match(await rig.round(round_id), { status: 'SETTLING', payout: '20.00' })
  rig.wallet.end(rig.scope, 'given-back', 'REFUNDED')
  rig.wallet.end(rig.scope, 'slow-refund', 'SUCCESS')
  const settled = await rig.until(async () => {
    const round = await rig.round(round_id)
    return round.status === 'SETTLED' ? round : null
  })
  t.match(settled, { stake: '10.00', payout: '20.00' })
  const completed = await rig.until(async () =>
    (await rig.events()).find(({ type }) => type === 'round.completed'),
  )
  t.match(completed.data, { status: 'SETTLED', stake: '10.00', payout: '20.00' })
})

t.test('a final win waits for the rollback of a pending stake', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession()
  const placed = await bet(rig, session, { transaction_id: 'taken' })
  const round_id = placed.body.round_id
  rig.wallet.next({ kind: 'pending', code: 'WALLET_TIMEOUT' }, { kind: 'lost' })
  t.equal(await codeOf(bet(rig, session, { transaction_id: 'unknown', round_id })), 'WALLET_TIMEOUT')
  const back = { type: 'ROLLBACK', reference_transaction_id: 'unknown' }
  t.equal(await codeOf(send(rig, back)), 'WALLET_TIMEOUT')
  const win = { type: 'WIN', round_id, amount: '3.00', currency: 'USD' }
  const paying = send(rig, win)
  await rig.until(async () => (await rig.round(round_id)).stake === '10.00')
  t.equal((await paying).status, 201)
  t.equal(rig.wallet.find(rig.scope, 'unknown')?.movement.status, 'ROLLED_BACK')
  t.match(await rig.round(round_id), { status: 'SETTLED', stake: '10.00', payout: '3.00' })
})

t.test('the last stake stays while a win of its round is owed or paid', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession()
  const placed = await bet(rig, session, { transaction_id: 'only-stake' })
  const round_id = placed.body.round_id
  const win = { type: 'WIN', round_id, amount: '5.00', currency: 'USD', final: false }
  t.equal((await send(rig, { ...win, transaction_id: 'part' })).status, 201)
  for (const type of ['REFUND', 'ROLLBACK']) {
    const back = { type, reference_transaction_id: 'only-stake' }
    t.equal(await codeOf(send(rig, back)), 'CONFLICT', type)
  }
  await send(rig, { type: 'ROLLBACK', reference_transaction_id: 'part' })
  t.equal((await send(rig, { type: 'REFUND', reference_transaction_id: 'only-stake' })).status, 201)
  t.match(await rig.round(round_id), { status: 'VOIDED', payout: '0.00' })
})

t.test('pending, refused and parallel stakes', async (t) => {
  const rig = await startRig(t, { replicas: 2 })
  const session = await rig.openSession()
  rig.wallet.next({ kind: 'pending', code: 'WALLET_TIMEOUT' })
  const body = { transaction_id: 'slow' }
  const first = await errorOf(bet(rig, session, body))
  t.match(first, { code: 'WALLET_TIMEOUT', resource: { transaction_id: 'slow' } })
  t.equal(await codeOf(bet(rig, session, body)), 'WALLET_TIMEOUT', 'a repeat while it is pending')
  const roundId = first.resource?.round_id ?? ''
  const win = { type: 'WIN', round_id: roundId, amount: '1.00', currency: 'USD' }
  t.equal(await codeOf(send(rig, win, 2000)), 'ROUND_IN_PROGRESS', 'as long as its call may wait')
  t.equal(
    await codeOf(send(rig, { type: 'REFUND', reference_transaction_id: 'slow' })),
    'CONFLICT',
    'a pending stake is rolled back, not refunded',
  )
  t.equal((await send(rig, { type: 'ROLLBACK', reference_transaction_id: 'slow' })).status, 201)
  t.equal((await rig.round(roundId)).status, 'VOIDED')
  t.equal((await bet(rig, session, body)).status, 200, 'the record of a stake that was rolled back')

  rig.wallet.next({ kind: 'refuse', code: 'PLAYER_BLOCKED' })
  const refused = { transaction_id: 'no' }
  t.equal(await codeOf(bet(rig, session, refused)), 'PLAYER_BLOCKED')
  t.equal(await codeOf(bet(rig, session, refused)), 'PLAYER_BLOCKED', 'the same error again')
  t.equal(
    await codeOf(send(rig, { type: 'ROLLBACK', reference_transaction_id: 'no' })),
    'CONFLICT',
    'a refused stake cannot be given back',
  )

  const before = rig.wallet.asked.length
  const same = await Promise.allSettled(
    Array.from({ length: 50 }, () => bet(rig, session, { transaction_id: 'fifty' })),
  )
  t.equal(rig.wallet.asked.length, before + 1, '50 parallel sends of one id move money once')
  const created = same.filter((one) => one.status === 'fulfilled' && one.value.status === 201)
  t.equal(created.length, 1)
  const codes = same.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []))
  t.same(codes, [])
})

t.test('parallel sends of one id share one answer', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession()
  const held = Promise.withResolvers<void>()
  rig.wallet.next({ kind: 'hold', until: held.promise })
  const sends = Array.from({ length: 20 }, () => bet(rig, session, { transaction_id: 'same' }))
  await rig.until(async () => rig.wallet.asked.length === 1)
  held.resolve()
  const placed = await Promise.all(sends)
  t.equal(placed.filter(({ status }) => status === 201).length, 1)
  t.equal(placed.filter(({ status }) => status === 200).length, 19)
  t.equal(rig.wallet.asked.length, 1, 'one movement')
})

t.test('a round learns how its movements stand before it refuses the next', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession()
  rig.wallet.next({ kind: 'pending', code: 'WALLET_UNAVAILABLE' })
  await t.rejects(bet(rig, session, { transaction_id: 'late' }))
  const [roundId] = rig.wallet.asked.map((spec) => spec.roundId)
  rig.wallet.end(rig.scope, 'late', 'SUCCESS')
  const win = { type: 'WIN', round_id: roundId, amount: '3.00', currency: 'USD' }
  t.equal((await send(rig, win)).status, 201, 'no waiting for the event')
  const refund = { type: 'REFUND', transaction_id: 'back' }
  const again = await bet(rig, session, { transaction_id: 'other' })
  t.equal(again.status, 201)
  t.equal((await send(rig, { ...refund, reference_transaction_id: 'other' })).status, 201)
  const spelled = { ...refund, reference_transaction_id: 'other', amount: '10.00', currency: 'USD' }
  t.equal((await send(rig, spelled)).status, 200, 'the amount spelled out means the same')
  t.equal(await codeOf(send(rig, { ...spelled, amount: '9.00' })), 'TRANSACTION_CONFLICT')
})

t.test('a round that the service plays is not driven by the operator', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession({ game: 'mines' })
  const round = await rig.play(session)
  const [stake] = rig.wallet.asked
  const ours = stake?.transactionId
  const path = async (promise: Promise<unknown>) => (await errorOf(promise)).details?.[0]?.path
  const reference = { type: 'REFUND', reference_transaction_id: ours }
  t.equal(await path(send(rig, reference)), 'reference_transaction_id')
  const win = { type: 'WIN', round_id: round.round_id, amount: '1.00', currency: 'USD' }
  t.equal(await path(send(rig, win)), 'round_id')
  t.equal(await codeOf(bet(rig, session, { transaction_id: ours })), 'TRANSACTION_CONFLICT')
  t.equal(await codeOf(bet(rig, session, { currency: 'EUR' })), 'CURRENCY_MISMATCH')
  t.equal(await codeOf(bet(rig, { session_id: 'ses_none' })), 'SESSION_NOT_FOUND')
})
