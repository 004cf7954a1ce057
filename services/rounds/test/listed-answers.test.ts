import { getPlayerSession, listPlayerRounds } from '@pitboss/contracts/endpoints/play'
import { listRounds, placeTransaction } from '@pitboss/contracts/endpoints/rounds'
import type { TransactionBody } from '@pitboss/contracts/objects/movement'
import type { Round } from '@pitboss/contracts/objects/round'
import t from 'tap'
import { codeOf, errorOf, type Rig, startRig } from './fixtures/rounds-rig.ts'

const rig = await startRig(t)
const none = { params: {}, query: {}, body: undefined }

/** The account's rounds with this status. */
async function withStatus(of: Rig, status: Round['status']): Promise<Round[]> {
  const { data } = (
    await of.bus.call(listRounds.call, { ...none, caller: of.caller(), query: { status, limit: 50 } })
  ).body
  return data
}

const send = (body: object) =>
  rig.bus.call(placeTransaction.call, {
    caller: rig.caller(),
    params: {},
    query: {},
    body: body as TransactionBody,
  })

t.test('a round that was read as ended in the background is listed as such', async (t) => {
  const session = await rig.openSession()
  rig.wallet.next({ kind: 'pending', code: 'WALLET_TIMEOUT' })
  const { resource } = await errorOf(rig.play(session))
  const roundId = resource?.round_id ?? ''
  t.match(await withStatus(rig, 'PENDING'), [{ round_id: roundId }])
  rig.wallet.end(rig.scope, resource?.transaction_id ?? '', 'ROLLED_BACK')
  const { status } = await rig.until(async () => {
    for (const one of await withStatus(rig, 'PENDING')) t.equal(one.status, 'PENDING')
    const found = await rig.round(roundId)
    return found.status === 'PENDING' ? null : found
  })
  t.notOk((await withStatus(rig, 'PENDING')).some(({ round_id }) => round_id === roundId))
  t.ok((await withStatus(rig, status)).some(({ round_id }) => round_id === roundId))
})

t.test("the round of an operator's stake that is refused is listed", async (t) => {
  const { session_id } = await rig.openSession()
  rig.wallet.next({ kind: 'refuse', code: 'INSUFFICIENT_FUNDS' })
  const stake = { type: 'BET', transaction_id: 'poor', session_id, amount: '1.00', currency: 'USD' }
  t.equal(await codeOf(send(stake)), 'INSUFFICIENT_FUNDS')
  t.match(await withStatus(rig, 'FAILED'), [{ driver: 'operator' }])
})

t.test('while a stake is in flight', async (t) => {
  const session = await rig.openSession()
  const { promise: until, resolve: answer } = Promise.withResolvers<void>()
  rig.wallet.next({ kind: 'hold', until })
  const before = rig.wallet.asked.length
  const playing = rig.play(session)
  const stake = await rig.until(() => rig.wallet.asked[before])
  const caller = rig.playerOf(session)

  await t.test('its round is in the list once the session names it', async (t) => {
    const { open_round: open } = (await rig.bus.call(getPlayerSession.call, { ...none, caller })).body
    t.equal(open?.round_id, stake.roundId)
    const { data } = (await rig.bus.call(listPlayerRounds.call, { ...none, caller, query: { limit: 50 } }))
      .body
    t.match(data, [{ round_id: stake.roundId, status: 'PENDING' }])
  })

  answer()
  await playing
})

t.test('a rollback that names the stake of a game says so before its round is listed', async (t) => {
  const session = await rig.openSession()
  const { promise: until, resolve: answer } = Promise.withResolvers<void>()
  rig.wallet.next({ kind: 'hold', until })
  const before = rig.wallet.asked.length
  const playing = rig.play(session)
  const { transactionId } = await rig.until(() => rig.wallet.asked[before])
  rig.wallet.store(rig.scope, { type: 'BET', transactionId })
  for (const type of ['ROLLBACK', 'REFUND']) {
    const body = { type, transaction_id: `back-${type}`, reference_transaction_id: transactionId }
    t.match(await errorOf(send(body)), {
      code: 'VALIDATION_ERROR',
      details: [{ path: 'reference_transaction_id', message: /a round that the service plays/ }],
    })
  }
  answer()
  t.match(await playing, { status: 'SETTLED' })
})
