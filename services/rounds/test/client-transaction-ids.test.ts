import * as endpoints from '@pitboss/contracts/endpoints/rounds'
import { closeSession } from '@pitboss/contracts/endpoints/sessions'
import type { TransactionBody } from '@pitboss/contracts/objects/movement'
import type { Session } from '@pitboss/contracts/objects/session'
import { Registry } from 'prom-client'
import t from 'tap'
import { act, cashOut, codeOf, errorOf, type Rig, safeTile, startRig } from './fixtures/rounds-rig.ts'
import { makeOlder } from './fixtures/make-older.ts'

const request = { params: {}, query: {} }

function place(rig: Rig, body: TransactionBody) {
  return rig.bus.call(endpoints.placeTransaction.call, { ...request, caller: rig.caller(), body })
}

function bet(rig: Rig, { session_id, currency }: Session, transaction_id: string) {
  return place(rig, { transaction_id, type: 'BET', session_id, amount: '1.00', currency })
}

async function roundsUnder(rig: Rig, query: { client_transaction_id: string; player_id?: string }) {
  const asked = { ...request, caller: rig.caller(), query: { limit: 50, ...query }, body: undefined }
  return (await rig.bus.call(endpoints.listRounds.call, asked)).body.data.map(({ round_id }) => round_id)
}

/** The ids of the stakes that wallet-bridge was asked for, in order. */
const stakesOf = ({ wallet }: Rig) =>
  wallet.asked.filter(({ type }) => type === 'BET').map(({ transactionId }) => transactionId)

const ofOurs = /^bet_[0-9a-hjkmnp-tv-z]{26}$/

t.test("a page's id is the key of its request alone", async (t) => {
  const rig = await startRig(t)
  const id = 'chosen-by-the-page'
  const ann = await rig.openSession()
  const bob = await rig.openSession()
  const otherGame = await rig.openSession({ player_id: ann.player_id, game: 'spin-bottle' })

  const first = await rig.play(ann, { transaction_id: id })
  const second = await rig.play(bob, { transaction_id: id })
  const third = await rig.play(otherGame, { transaction_id: id })
  const all = [first, second, third]
  t.equal(
    new Set(all.map(({ round_id }) => round_id)).size,
    3,
    'two players, and two games, are three rounds',
  )
  t.same(new Set(all.map(({ status }) => status)), new Set(['SETTLED']), 'that are all played')
  t.same(new Set(all.map(({ client_transaction_id }) => client_transaction_id)), new Set([id]))

  const stakes = stakesOf(rig)
  t.equal(new Set(stakes).size, 3, 'each with a movement of its own')
  for (const stake of stakes) t.match(stake, ofOurs)
  t.notOk(JSON.stringify(rig.wallet.asked).includes(id), 'wallet-bridge never sees the id')
  t.notOk(JSON.stringify(await rig.events()).includes(id), 'nor does an event')

  const repeated = await rig.play(ann, { transaction_id: id })
  t.equal(repeated.round_id, first.round_id, 'a repeat is the same round')
  t.equal(stakesOf(rig).length, 3, 'without another stake')
  t.equal(await codeOf(rig.play(ann, { transaction_id: id, stake: '2.00' })), 'TRANSACTION_CONFLICT')

  const under = await roundsUnder(rig, { client_transaction_id: id })
  t.strictSame(under, all.map(({ round_id }) => round_id).toReversed(), 'the list finds them, newest first')
  t.strictSame(await roundsUnder(rig, { client_transaction_id: id, player_id: bob.player_id }), [
    second.round_id,
  ])
  t.strictSame(await roundsUnder(rig, { client_transaction_id: stakes[0] ?? '' }), [])
  t.equal((await rig.play(bob)).client_transaction_id, null, 'a request without an id')
})

t.test("a page's id takes none of the operator's, whoever is first", async (t) => {
  const registry = new Registry()
  const rig = await startRig(t, { registry })
  const session = await rig.openSession()
  const other = await rig.openSession()
  await rig.play(session, { transaction_id: 'order-1' })
  const opened = await bet(rig, other, 'order-1')
  t.match(opened, { status: 201, body: { transaction_id: 'order-1', status: 'SUCCESS' } })
  t.match(await bet(rig, other, 'order-1'), { status: 200, body: { round_id: opened.body.round_id } })
  t.equal((await rig.round(opened.body.round_id)).client_transaction_id, null, 'no page has asked for it')

  // The player's very own round of the operator's server has a stake with this id, which looks like ours.
  const own = await bet(rig, session, 'bet_2')
  await place(rig, {
    ...{ type: 'WIN', transaction_id: 'end', round_id: own.body.round_id, amount: '0.00', currency: 'USD' },
    final: true,
  })
  const played = await rig.play(session, { transaction_id: 'bet_2' })
  t.equal(played.status, 'SETTLED')
  t.not(played.round_id, own.body.round_id)
  const back = { type: 'ROLLBACK', transaction_id: 'back', reference_transaction_id: 'order-1' } as const
  t.equal((await place(rig, back)).status, 201, 'what gives back finds the stake of the operator')
  t.strictSame((await rig.round(opened.body.round_id)).status, 'VOIDED')

  const counted = async () =>
    (await registry.getMetricsAsJSON()).find(({ name }) => name === 'pitboss_rounds_id_conflicts_total')
  t.match(await counted(), { values: [{ value: 0 }] }, 'none of this is a conflict')
  const [stake = ''] = stakesOf(rig)
  t.equal(await codeOf(bet(rig, other, stake)), 'TRANSACTION_CONFLICT', 'the id of a movement is')
  t.match(await counted(), { values: [{ value: 1 }] })
})

t.test(
  'what is pending or refused names the movement, and the request is repeated by either id',
  async (t) => {
    const rig = await startRig(t)
    const session = await rig.openSession()
    rig.wallet.next({ kind: 'pending', code: 'WALLET_TIMEOUT' })
    const { code, resource } = await errorOf(rig.play(session, { transaction_id: 'mine' }))
    const { round_id = '', transaction_id = '' } = resource ?? {}
    t.equal(code, 'WALLET_TIMEOUT')
    t.match(transaction_id, ofOurs)
    t.equal((await rig.round(round_id)).client_transaction_id, 'mine')
    t.strictSame((await errorOf(rig.play(session, { transaction_id: 'mine' }))).resource, resource)
    t.strictSame((await errorOf(rig.play(session, { transaction_id }))).resource, resource)
    rig.wallet.end(rig.scope, transaction_id, 'SUCCESS')
    for (const id of ['mine', transaction_id]) {
      t.equal((await rig.play(session, { transaction_id: id })).round_id, round_id)
    }

    rig.wallet.next({ kind: 'refuse', code: 'INSUFFICIENT_FUNDS' })
    const refused = await errorOf(rig.play(session, { transaction_id: 'poor' }))
    t.match(refused, { code: 'INSUFFICIENT_FUNDS', details: [{ path: 'transaction_id' }] })
    t.match(await errorOf(rig.play(session, { transaction_id: 'poor' })), { code: 'INSUFFICIENT_FUNDS' })
    const other = await rig.openSession()
    t.equal(
      (await rig.play(other, { transaction_id: 'poor' })).status,
      'SETTLED',
      'dead for that player alone',
    )
    t.equal((await bet(rig, other, 'poor')).status, 201, 'and not for the operator')
  },
)

t.test('a free bet has no movement, and is found by the id of its request', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession()
  await rig.bus.call(endpoints.createFreeBet.call, {
    ...request,
    caller: rig.caller(),
    body: { player_id: session.player_id, game: 'dice', currency: 'USD', stake: '1.00', count: 1 },
  })
  const round = await rig.play(session, { free_bet: true, transaction_id: 'free' })
  t.match(round, { status: 'SETTLED', client_transaction_id: 'free' })
  t.strictSame(await roundsUnder(rig, { client_transaction_id: 'free' }), [round.round_id])
  t.equal((await bet(rig, session, 'free')).status, 201, 'the id is free for the operator')
})

t.test("a round of an earlier release, whose stake has the page's id, goes on", async (t) => {
  const rig = await startRig(t, { running: false })
  const stop = await rig.start()
  const { db } = rig.storage
  /** Opens a board whose stake wallet-bridge knows as earlier releases named it. */
  async function openAsBefore(id: string) {
    const session = await rig.openSession({ game: 'mines' })
    const round = await rig.play(session, { transaction_id: id })
    const [stake = ''] = stakesOf(rig).slice(-1)
    rig.wallet.store(rig.scope, { type: 'BET', transactionId: id })
    rig.wallet.forget(rig.scope, stake)
    return { session, round }
  }

  const { session, round } = await openAsBefore('old-1')
  const left = await openAsBefore('old-2')
  await stop()
  await makeOlder(db)
  for (const id of ['old-1', 'old-2']) {
    const before = { 'stakes.0.transactionId': id, transactionIds: [id] }
    await db.collection('rounds').updateOne({ clientTransactionId: id }, { $set: before })
  }
  await rig.start()
  t.strictSame(await roundsUnder(rig, { client_transaction_id: 'old-1' }), [round.round_id])
  t.equal((await rig.play(session, { transaction_id: 'old-1' })).round_id, round.round_id, 'a repeat')
  t.equal(
    await codeOf(bet(rig, await rig.openSession(), 'old-1')),
    'TRANSACTION_CONFLICT',
    'it is a movement',
  )
  await act(rig, session, round.round_id, await safeTile(rig, round.round_id))
  const ended = await cashOut(rig, session, round.round_id)
  t.match(ended, { status: 'SETTLED', client_transaction_id: 'old-1' })
  t.strictSame(await roundsUnder(rig, { client_transaction_id: 'old-1' }), [round.round_id], 'as before')
  t.equal((await rig.play(session, { transaction_id: 'old-1' })).round_id, round.round_id)

  const nothing = { ...request, caller: rig.caller(), body: undefined }
  const params = { session_id: left.session.session_id }
  await rig.bus.call(closeSession.call, { ...nothing, params })
  const given = await rig.until(async () => {
    const now = await rig.round(left.round.round_id)
    return now.status === 'VOIDED' ? now : null
  })
  t.equal(given.end_reason, 'abandoned')
  t.match(rig.wallet.asked.at(-1), { type: 'REFUND', referenceTransactionId: 'old-2' })
})
