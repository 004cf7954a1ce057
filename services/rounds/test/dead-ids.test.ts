import * as endpoints from '@pitboss/contracts/endpoints/rounds'
import type { TransactionBody } from '@pitboss/contracts/objects/movement'
import t from 'tap'
import { codeOf, errorOf, type Rig, startRig } from './fixtures/rounds-rig.ts'

const usd = { currency: 'USD' } as const

/** @param withinMs how long the call may take */
async function send(rig: Rig, body: TransactionBody, withinMs?: number) {
  const request = { caller: rig.caller(), params: {}, query: {}, body }
  const context = withinMs === undefined ? {} : { deadlineAtMs: Date.now() + withinMs }
  return rig.bus.call(endpoints.placeTransaction.call, request, { requestId: 'req', ...context })
}

function bet(session_id: string, transaction_id: string, more: { amount?: string; round_id?: string } = {}) {
  return { type: 'BET', transaction_id, session_id, amount: '10.00', ...usd, ...more } as const
}

function win(round_id: string, transaction_id: string, amount = '3.00') {
  return { type: 'WIN', transaction_id, round_id, amount, ...usd, final: true } as const
}

function back(type: 'REFUND' | 'ROLLBACK', transaction_id: string, reference_transaction_id: string) {
  return { type, transaction_id, reference_transaction_id } as const
}

t.test('a refused win is never paid under its id, however often it is sent', async (t) => {
  const rig = await startRig(t, { replicas: 2 })
  const { session_id } = await rig.openSession()
  const { round_id } = (await send(rig, bet(session_id, 'first'))).body
  rig.wallet.next({ kind: 'pending', code: 'WALLET_TIMEOUT' })
  t.equal(await codeOf(send(rig, bet(session_id, 'slow', { round_id }))), 'WALLET_TIMEOUT')

  const refused = await errorOf(send(rig, win(round_id, 'w1'), 2500))
  t.equal(refused.code, 'ROUND_IN_PROGRESS')
  t.match(refused.details, [{ path: 'transaction_id', message: /new one/ }])
  rig.wallet.end(rig.scope, 'slow', 'SUCCESS')
  for (let time = 0; time < 3; time++) {
    const { code, message, details } = await errorOf(send(rig, win(round_id, 'w1', '3.0')))
    t.strictSame([code, message, details], [refused.code, refused.message, refused.details])
  }
  t.equal(await codeOf(send(rig, win(round_id, 'w1', '4.00'))), 'TRANSACTION_CONFLICT', 'another amount')
  t.equal(await codeOf(send(rig, bet(session_id, 'w1', { round_id }))), 'TRANSACTION_CONFLICT')
  t.equal((await send(rig, win(round_id, 'w2'))).status, 201, 'a new id')
  t.equal(await codeOf(send(rig, win(round_id, 'w1'))), 'ROUND_IN_PROGRESS', 'when its round is over, too')
  const paid = rig.wallet.asked.filter(({ type }) => type === 'WIN').map(({ transactionId }) => transactionId)
  t.strictSame(paid, ['w2'])
})

t.test('a win waits for the pending stake that it meets', async (t) => {
  const rig = await startRig(t)
  const { session_id } = await rig.openSession()
  rig.wallet.next({ kind: 'pending', code: 'WALLET_TIMEOUT' })
  const { resource } = await errorOf(send(rig, bet(session_id, 'slow')))
  const paying = send(rig, win(resource?.round_id ?? '', 'w'))
  let isAnswered = false
  void paying.finally(() => (isAnswered = true))
  t.equal(await codeOf(send(rig, win(resource?.round_id ?? '', 'other'), 2500)), 'ROUND_IN_PROGRESS')
  t.notOk(isAnswered)
  rig.wallet.end(rig.scope, 'slow', 'SUCCESS')
  t.match(await paying, { status: 201, body: { status: 'SUCCESS' } })
})

t.test('a refused stake stays refused on every replica, and its id is its request’s', async (t) => {
  const rig = await startRig(t, { replicas: 2 })
  const { session_id } = await rig.openSession()
  const other = await rig.openSession()
  const { round_id } = (await send(rig, bet(session_id, 'b1'))).body
  t.equal(await codeOf(send(rig, bet(session_id, 'b2'))), 'ROUND_IN_PROGRESS', 'of a second round')
  t.equal(await codeOf(send(rig, bet(session_id, 'b3', { round_id, amount: '0.01' }))), 'BET_LIMIT_EXCEEDED')
  t.equal((await send(rig, back('REFUND', 'r1', 'b1'))).status, 201)
  t.equal(await codeOf(send(rig, back('REFUND', 'r2', 'b1'))), 'TRANSACTION_ALREADY_REVERSED')
  for (let replica = 0; replica < 4; replica++) {
    t.equal(await codeOf(send(rig, bet(session_id, 'b2'))), 'ROUND_IN_PROGRESS')
    t.equal(await codeOf(send(rig, bet(other.session_id, 'b2'))), 'TRANSACTION_CONFLICT', 'of another player')
    const dead = send(rig, bet(session_id, 'b3', { round_id, amount: '0.01' }))
    t.equal(await codeOf(dead), 'BET_LIMIT_EXCEEDED')
    t.equal(await codeOf(send(rig, back('REFUND', 'r2', 'b1'))), 'TRANSACTION_ALREADY_REVERSED')
  }
  t.equal(await codeOf(send(rig, back('ROLLBACK', 'r2', 'b1'))), 'TRANSACTION_CONFLICT')
  t.equal((await send(rig, bet(session_id, 'b4'))).status, 201)
})

t.test('a refusal that speaks of the caller or of what is not there leaves the id alive', async (t) => {
  const rig = await startRig(t)
  const { session_id } = await rig.openSession()
  rig.wallet.state.configured = false
  t.equal(await codeOf(send(rig, bet(session_id, 'b'))), 'WALLET_NOT_CONFIGURED')
  rig.wallet.state.configured = true
  t.equal(await codeOf(send(rig, back('REFUND', 'r', 'b'))), 'TRANSACTION_NOT_FOUND')
  t.equal((await send(rig, bet(session_id, 'b'))).status, 201, 'a refund leaves no tombstone either')
  t.equal((await send(rig, back('REFUND', 'r', 'b'))).status, 201)
})

t.test('the wallet’s refusal says that its id is used up', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession()
  rig.wallet.next({ kind: 'refuse', code: 'INSUFFICIENT_FUNDS' })
  for (let time = 0; time < 2; time++) {
    const refused = await errorOf(send(rig, bet(session.session_id, 'poor')))
    t.match(refused, { code: 'INSUFFICIENT_FUNDS', details: [{ path: 'transaction_id' }] })
  }
  rig.wallet.next(
    { kind: 'refuse', code: 'INSUFFICIENT_FUNDS' },
    { kind: 'refuse', code: 'INSUFFICIENT_FUNDS' },
  )
  for (let time = 0; time < 2; time++) {
    const refused = await errorOf(rig.play(session, { transaction_id: 'poor-play' }))
    t.match(refused, { code: 'INSUFFICIENT_FUNDS', details: [{ path: 'transaction_id' }] })
  }
  const unnamed = await errorOf(rig.play(session))
  t.match(unnamed, { code: 'INSUFFICIENT_FUNDS', details: undefined })
})

t.test('a refusal of a page kills the id for that player and game alone', async (t) => {
  const rig = await startRig(t, { replicas: 2 })
  const [session, other] = [await rig.openSession(), await rig.openSession()]
  const opened = await send(rig, bet(session.session_id, 'open'))
  const played = { transaction_id: 'same' }
  const refused = await errorOf(rig.play(session, played))
  t.match(refused, { code: 'ROUND_IN_PROGRESS', details: [{ path: 'transaction_id' }] })
  await send(rig, win(opened.body.round_id, 'end'))
  for (let time = 0; time < 3; time++) {
    t.equal(await codeOf(rig.play(session, played)), 'ROUND_IN_PROGRESS', 'though no round is open')
  }
  t.equal(await codeOf(rig.play(session, { ...played, stake: '2.00' })), 'TRANSACTION_CONFLICT')
  t.equal((await rig.play(other, played)).status, 'SETTLED', 'another player')
  t.equal((await rig.play(session, { transaction_id: 'new' })).status, 'SETTLED')
})

t.test('a rollback that comes first leaves a tombstone: its stake and its win move nothing', async (t) => {
  const rig = await startRig(t, { replicas: 2 })
  const { session_id } = await rig.openSession()
  const { round_id } = (await send(rig, bet(session_id, 'first'))).body
  const before = rig.wallet.asked.length
  for (const id of ['late-bet', 'late-win']) {
    t.equal(await codeOf(send(rig, back('ROLLBACK', `of-${id}`, id))), 'TRANSACTION_NOT_FOUND')
  }
  for (let replica = 0; replica < 4; replica++) {
    const stake = await errorOf(send(rig, bet(session_id, 'late-bet', { round_id })))
    t.match(stake, { code: 'TRANSACTION_ALREADY_REVERSED', details: [{ path: 'transaction_id' }] })
    const late = await codeOf(send(rig, win(round_id, 'late-win')))
    t.equal(late, 'TRANSACTION_ALREADY_REVERSED')
    t.equal(await codeOf(send(rig, back('ROLLBACK', 'of-late-bet', 'late-bet'))), 'TRANSACTION_NOT_FOUND')
  }
  t.equal(rig.wallet.asked.length, before, 'the wallet is never asked')
  t.equal((await send(rig, win(round_id, 'w'))).status, 201)
  t.equal(await codeOf(send(rig, bet(session_id, 'late-bet'))), 'TRANSACTION_ALREADY_REVERSED', 'a new round')
})

t.test('a stake on its way is overtaken by its rollback: it is not found, and never taken', async (t) => {
  const passing = Promise.withResolvers<void>()
  let isHeld = false
  const rig = await startRig(t, {
    replicas: 2,
    async hold({ collection }) {
      if (collection !== 'sessions' || isHeld) return
      isHeld = true
      await passing.promise
    },
  })
  const { session_id } = await rig.openSession()
  const stake = errorOf(send(rig, bet(session_id, 'overtaken')))
  await rig.until(() => isHeld)
  t.equal(await codeOf(send(rig, back('ROLLBACK', 'back', 'overtaken'))), 'TRANSACTION_NOT_FOUND')
  passing.resolve()
  t.match(await stake, { code: 'TRANSACTION_ALREADY_REVERSED' })
  t.strictSame(rig.wallet.asked, [])
  const rounds = await rig.storage.db.collection('rounds').countDocuments({ scope: { $gt: '' } })
  t.equal(rounds, 0, 'its intent is gone')
})

t.test('an owed win whose request died is no id for a tombstone: its rollback finds it', async (t) => {
  const rig = await startRig(t)
  const { session_id } = await rig.openSession()
  const { round_id } = (await send(rig, bet(session_id, 'stake'))).body
  rig.wallet.next({ kind: 'lost' })
  t.equal(await codeOf(send(rig, win(round_id, 'owed'))), 'WALLET_TIMEOUT')
  t.equal(await codeOf(send(rig, back('ROLLBACK', 'back', 'owed'))), 'CONFLICT', 'it is pending')
  await rig.until(async () => (await rig.round(round_id)).status === 'SETTLED')
  t.match(await send(rig, win(round_id, 'owed')), { status: 200, body: { status: 'SUCCESS' } })
})
