import * as endpoints from '@pitboss/contracts/endpoints/rounds'
import type { z } from 'zod'
import {
  opsCertainMovements,
  opsEndRoundAsTold,
  opsHealOrphan,
  opsOrphanedStakes,
  opsSkipNonces,
  opsUnendedRounds,
  showStakeStanding,
} from '@pitboss/contracts/calls/rounds'
import { eventDataSchemas } from '@pitboss/contracts/objects/event'
import * as playEndpoints from '@pitboss/contracts/endpoints/play'
import { newId } from '@pitboss/runtime/new-id'
import type { Document } from 'mongodb'
import t from 'tap'
import { sequenceOf } from '../src/storage/round-document.ts'
import {
  masterKeys,
  act,
  bombTile,
  cashOut,
  codeOf,
  type Rig,
  safeTile,
  startRig,
} from './fixtures/rounds-rig.ts'
import { loseRounds } from '@pitboss/testing/lose-rounds'
import { createLostRounds } from '../src/storage/lost-rounds.ts'
import { createRoundLists } from '../src/storage/round-lists.ts'
import { storedCommitments, storedRounds, testJournal } from './fixtures/stored-rounds.ts'

type Certain = z.infer<typeof opsCertainMovements.reply>['data'][number]

const order = { by: 'a person', reason: 'restored', dryRun: false }

t.test('what a restored database lacks is found and healed', async (t) => {
  const rig = await startRig(t, { running: false })
  const stop = await rig.start()
  const session = await rig.openSession()
  const kept = await rig.play(session)
  const backup = await dump(rig)
  const [first, second] = [await rig.play(session), await rig.play(session)]
  const board = await rig.openSession({ game: 'mines', player_id: session.player_id })
  const open = await rig.play(board)
  await stop()
  await restore(rig, backup)
  await rig.start()

  const { scope } = rig
  const stakes = rig.wallet.asked.filter(({ type }) => type === 'BET')
  const transactionIds = stakes.map(({ transactionId }) => transactionId)
  const idOf = (roundId: string) => stakes.find((stake) => stake.roundId === roundId)?.transactionId ?? ''
  const { data } = await rig.bus.call(opsOrphanedStakes, { scope, transactionIds })
  t.strictSame(
    data.map(({ round_id }) => round_id),
    [first.round_id, second.round_id, open.round_id],
    'the rounds since the backup, and none before it',
  )

  const heal = (roundId: string, nonce: number | null, refund: boolean, dryRun = false) =>
    rig.bus.call(opsHealOrphan, {
      ...{ order: { ...order, dryRun }, scope, transactionId: idOf(roundId), nonce, refund },
    })
  t.equal(await codeOf(heal(kept.round_id, null, true)), 'CONFLICT', 'it has its round')
  await heal(second.round_id, 3, false, true)
  await heal(first.round_id, 2, false)
  await heal(second.round_id, 3, false)
  t.equal((await heal(open.round_id, 1, true, true)).refund, null, 'a dry run')
  t.equal((await heal(open.round_id, 1, true)).refund, 'SUCCESS')
  t.equal((await heal(open.round_id, 1, true)).refund, 'SUCCESS', 'once more changes nothing')
  t.equal(rig.wallet.asked.filter(({ type }) => type === 'REFUND').length, 1)
  t.equal(rig.wallet.find(scope, idOf(open.round_id))?.movement.status, 'REFUNDED')

  const request = { caller: rig.playerOf(session), params: {}, query: {}, body: undefined }
  const shown = await rig.bus.call(playEndpoints.getPlayerSession.call, request)
  t.equal(shown.body.next_round.nonce, 4)
  const next = await rig.play(session)
  t.equal(next.fairness.nonce, 4, 'no nonce that an event knows is given out again')
  t.equal(next.fairness.server_seed_hash, shown.body.next_round.server_seed_hash)
  const list = await rig.bus.call(playEndpoints.listPlayerRounds.call, { ...request, query: { limit: 10 } })
  t.strictSame(
    list.body.data.map(({ round_id }) => round_id),
    [next.round_id, kept.round_id],
    'the places of lost rounds are not shown',
  )
  const rounds = await rig.bus.call(endpoints.listRounds.call, {
    ...{ caller: rig.caller(), params: {}, query: { limit: 10 }, body: undefined },
  })
  t.equal(rounds.body.data.length, 2)
})

t.test('a stake that was added since the backup goes back, and its round goes on', async (t) => {
  const rig = await startRig(t, { running: false })
  const stop = await rig.start()
  const session = await rig.openSession()
  const send = async (body: object) => {
    const money = { amount: '10.00', currency: 'USD', ...body }
    const request = { caller: rig.caller(), params: {}, query: {}, body: money }
    return rig.bus.call(
      endpoints.placeTransaction.call,
      endpoints.placeTransaction.call.request.parse(request),
    )
  }
  const { session_id } = session
  const { round_id } = (await send({ type: 'BET', transaction_id: 'first', session_id })).body
  const backup = await dump(rig)
  await send({ type: 'BET', transaction_id: 'added', session_id, round_id })
  await stop()
  await restore(rig, backup)
  await rig.start()
  const heal = { order, scope: rig.scope, transactionId: 'added', nonce: null, refund: true }
  t.equal((await rig.bus.call(opsHealOrphan, heal)).refund, 'SUCCESS')
  const refund = rig.wallet.asked.at(-1)
  t.match(refund, { type: 'REFUND', roundClosed: false })
  t.equal((await send({ type: 'WIN', transaction_id: 'won', round_id })).status, 201)
})

t.test('a nonce of a lost round that events know is not given out again', async (t) => {
  const rig = await startRig(t)
  const { scope } = rig
  const session = await rig.openSession()
  const round = await rig.play(session)
  await loseRounds(rig.storage.db)
  const { round_id, player_id, game, currency, fairness } = round
  const started = { round_id, player_id, game, currency, nonce: fairness.nonce }
  const skip = (dryRun = false) =>
    rig.bus.call(opsSkipNonces, { order: { ...order, dryRun }, scope, rounds: [started] })
  t.strictSame((await skip(true)).data, [started], 'a dry run')
  t.strictSame((await skip()).data, [started])
  t.strictSame((await skip()).data, [], 'once more changes nothing')
  t.equal((await rig.play(session)).fairness.nonce, 2)
  t.strictSame((await skip()).data, [])
})

t.test('no nonce before one that events know is given out again, whatever a process remembers', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession()
  const { round_id } = await rig.play(session)
  // Another replica heals: this one still knows the last round that it has seen.
  const replica = storedRounds(rig.storage.db)
  const stored = await replica.find(rig.scope, round_id)
  if (stored === null) return t.fail('the round is stored')
  const lost = createLostRounds({
    ...{ journal: testJournal(rig.storage.db), lists: createRoundLists({ db: rig.storage.db }) },
    ...{ rounds: replica, commitments: storedCommitments(rig.storage.db, masterKeys) },
  })
  await lost.skipTo(sequenceOf(stored.round), 4, stored.round)
  t.equal((await rig.play(session)).fairness.nonce, 5, 'nor 2 and 3, of lost rounds that no event tells')
})

t.test('the seed of a lost round whose stake was refused is used by no other', async (t) => {
  const rig = await startRig(t, { running: false })
  const stop = await rig.start()
  const session = await rig.openSession()
  await rig.play(session)
  const seen = { caller: rig.playerOf(session), params: {}, query: {}, body: undefined }
  const hashOfNext = async () =>
    (await rig.bus.call(playEndpoints.getPlayerSession.call, seen)).body.next_round.server_seed_hash
  const revealed = await hashOfNext()
  const backup = await dump(rig)
  rig.wallet.next({ kind: 'refuse', code: 'INSUFFICIENT_FUNDS' })
  t.equal(await codeOf(rig.play(session)), 'INSUFFICIENT_FUNDS')
  const { scope } = rig
  const transactionIds = rig.wallet.asked.map(({ transactionId }) => transactionId)
  const list = async () => (await rig.bus.call(opsOrphanedStakes, { scope, transactionIds })).data
  t.strictSame(await list(), [], 'each stake has its round')
  await stop()
  await restore(rig, backup)
  await rig.start()

  const [refused, ...others] = await list()
  t.match(refused, { stands: false })
  t.strictSame(others, [])
  const heal = (dryRun: boolean) =>
    rig.bus.call(opsHealOrphan, {
      ...{ order: { ...order, dryRun }, scope, nonce: null, refund: false },
      transactionId: refused?.transaction_id ?? '',
    })
  await heal(true)
  t.equal(await hashOfNext(), revealed, 'a dry run')
  await heal(false)
  await heal(false)
  t.strictSame(await list(), [], 'it is listed no more')
  const next = await rig.play(session)
  t.equal(next.fairness.nonce, 3, 'once more changes nothing')
  t.not(next.fairness.server_seed_hash, revealed)
})

t.test('a stake whose win was paid is not given back', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession({ game: 'mines' })
  const { round_id: roundId } = await rig.play(session)
  await act(rig, session, roundId, await safeTile(rig, roundId))
  t.equal((await cashOut(rig, session, roundId)).status, 'SETTLED')
  await loseRounds(rig.storage.db)
  const transactionId = rig.wallet.asked[0]?.transactionId ?? ''
  const heal = { order, scope: rig.scope, transactionId, nonce: null, refund: true }
  t.equal(await codeOf(rig.bus.call(opsHealOrphan, heal)), 'CONFLICT')
  t.equal((await rig.play(session)).fairness.nonce, 2, 'its nonce is not given out again all the same')
})

t.test('an abandoned round is refunded although wallet-bridge has lost its stake', async (t) => {
  const rig = await startRig(t, { timeScale: 600 })
  const session = await rig.openSession({ game: 'mines' })
  const { round_id: roundId } = await rig.play(session)
  const transactionId = rig.wallet.asked[0]?.transactionId ?? ''
  rig.wallet.forget(rig.scope, transactionId)
  await rig.until(async () => (await rig.round(roundId)).status === 'VOIDED')
  t.same(
    rig.wallet.asked.map(({ type }) => type),
    ['BET', 'REFUND'],
  )
  t.equal(rig.wallet.find(rig.scope, transactionId)?.movement.status, 'REFUNDED')
})

t.test('wallet-bridge hears what is known of a stake', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession({ game: 'mines' })
  const standing = async (roundId: string) => {
    const stake = rig.wallet.asked.findLast(({ type }) => type === 'BET')
    const transactionId = stake?.transactionId ?? ''
    return (await rig.bus.call(showStakeStanding, { scope: rig.scope, roundId, transactionId })).standing
  }
  const { round_id: roundId } = await rig.play(session)
  t.equal(await standing(roundId), 'taken')
  await act(rig, session, roundId, await bombTile(rig, roundId))
  t.equal(await standing(roundId), 'taken', 'also when the round is over')
  rig.wallet.next({ kind: 'pending', code: 'WALLET_TIMEOUT' })
  t.equal(await codeOf(rig.play(session)), 'WALLET_TIMEOUT')
  const pending = rig.wallet.asked.findLast(({ type }) => type === 'BET')
  t.equal(await standing(pending?.roundId ?? ''), 'not-taken')
  t.equal(await standing(newId('rnd')), 'unknown')
  t.equal(await standing(roundId), 'unknown', 'it is the stake of another round')
})

t.test('what rounds know for certain of their movements is read in pages', async (t) => {
  const rig = await startRig(t)
  const from = new Date().toISOString()
  const session = await rig.openSession({ game: 'mines' })
  const lost = await rig.play(session)
  await act(rig, session, lost.round_id, await bombTile(rig, lost.round_id))
  const won = await rig.play(session)
  await act(rig, session, won.round_id, await safeTile(rig, won.round_id))
  await cashOut(rig, session, won.round_id)
  const open = await rig.play(session)
  const poor = await rig.openSession()
  rig.wallet.next({ kind: 'refuse', code: 'INSUFFICIENT_FUNDS' })
  t.equal(await codeOf(rig.play(poor)), 'INSUFFICIENT_FUNDS')
  const known = new Map<string, string[]>()
  let after: string | null = null
  do {
    const page: { data: readonly Certain[]; next: string | null } = await rig.bus.call(opsCertainMovements, {
      ...{ scope: rig.scope, from, after },
    })
    for (const { round_id, movements } of page.data) {
      known.set(
        round_id,
        movements.map(({ spec, end }) => `${spec.type} ${end}`),
      )
    }
    after = page.next
  } while (after !== null)
  t.same(known.get(lost.round_id), ['BET SUCCESS'])
  t.same(known.get(won.round_id), ['BET SUCCESS', 'WIN SUCCESS'])
  t.same(known.get(open.round_id), ['BET SUCCESS'])
  t.same([...known.values()].filter((one) => one.includes('BET FAILED')).length, 1)
})

t.test('a round that is played to its end again is paid once', async (t) => {
  const rig = await startRig(t, { running: false })
  const stop = await rig.start()
  const session = await rig.openSession({ game: 'mines' })
  const { round_id: roundId } = await rig.play(session)
  const tile = await safeTile(rig, roundId)
  const backup = await dump(rig)
  await act(rig, session, roundId, tile)
  const paid = await cashOut(rig, session, roundId)
  t.equal(paid.status, 'SETTLED')
  await stop()
  await restore(rig, backup)
  await rig.start()
  t.equal((await rig.round(roundId)).status, 'OPEN', 'the cash-out is lost')
  await act(rig, session, roundId, tile)
  const again = await cashOut(rig, session, roundId)
  t.match(again, { status: 'SETTLED', payout: paid.payout })
  const wins = rig.wallet.asked.filter(({ type }) => type === 'WIN').map(({ transactionId }) => transactionId)
  t.equal(wins.length, 1, 'the second time under an id that wallet-bridge knows')
})

t.test('a mines round that had ended is ended again as its event told it', async (t) => {
  const rig = await startRig(t, { running: false })
  const stop = await rig.start()
  const sessions = await Promise.all([0, 1, 2].map(() => rig.openSession({ game: 'mines' })))
  const rounds = await Promise.all(sessions.map((session) => rig.play(session)))
  const [lost = '', won = '', open = ''] = rounds.map(({ round_id }) => round_id)
  const [lostSitting, wonSitting] = sessions
  if (lostSitting === undefined || wonSitting === undefined) return t.fail('there are three sessions')
  const backup = await dump(rig)
  await act(rig, lostSitting, lost, await bombTile(rig, lost))
  await act(rig, wonSitting, won, await safeTile(rig, won))
  const paid = await cashOut(rig, wonSitting, won)
  const first = { lost: await rig.round(lost), won: await rig.round(won) }
  await stop()
  await restore(rig, backup)
  await rig.start()
  const { scope } = rig
  const listed = await rig.bus.call(opsUnendedRounds, { scope, status: 'OPEN', after: null })
  t.strictSame(listed.data.map(({ round_id }) => round_id).toSorted(), [lost, won, open].toSorted())

  const told = (await rig.events()).filter(({ type }) => type === 'round.completed')
  const endOf = (roundId: string) => {
    const event = told.find(({ data }) => data.round_id === roundId)
    const { status, payout, outcome, end_reason } = eventDataSchemas['round.completed'].parse(event?.data)
    return { status, payout, outcome, end_reason }
  }
  const end = (roundId: string, as = endOf(roundId), dryRun = false) =>
    rig.bus.call(opsEndRoundAsTold, { order: { ...order, dryRun }, roundId, end: as })
  t.equal(
    await codeOf(end(lost, { ...endOf(won), payout: '77.00' })),
    'CONFLICT',
    'the seed gives another end',
  )
  t.equal((await end(lost, endOf(lost), true)).status, 'OPEN', 'a dry run')
  t.equal((await end(lost)).status, 'SETTLED')
  t.equal((await end(won)).status, 'SETTLED')
  t.equal((await end(won)).status, 'SETTLED', 'once more changes nothing')
  const withoutTimes = ({ completed_at: _completed, ...rest }: typeof paid) => rest
  t.strictSame(withoutTimes(await rig.round(lost)), withoutTimes(first.lost))
  t.strictSame(withoutTimes(await rig.round(won)), withoutTimes(first.won))
  t.equal(rig.wallet.asked.filter(({ type }) => type === 'WIN').length, 1, 'the win under its first id')
  t.match(await cashOut(rig, wonSitting, won), { payout: paid.payout }, 'its last action has its answer')
  t.equal(await codeOf(act(rig, lostSitting, lost, await safeTile(rig, lost))), 'ROUND_ALREADY_SETTLED')
  t.equal((await rig.round(open)).status, 'OPEN', 'no event tells its end')
})

t.test('an ended round that no list shows yet is found when its database is restored', async (t) => {
  const rig = await startRig(t, { running: false })
  const stop = await rig.start()
  const session = await rig.openSession({ game: 'mines' })
  const { round_id: roundId } = await rig.play(session)
  const backup = await dump(rig)
  await act(rig, session, roundId, await bombTile(rig, roundId))
  await stop()
  // The backup is of the instant at which the process had appended the round and had listed nothing yet.
  const instances = backup.get('journal_instances') ?? []
  t.equal(instances.length, 1)
  const early = instances.map((instance) => ({ ...instance, done: 0 }))
  await restore(rig, new Map([...backup, ['journal_instances', early], ['rounds', []]]))
  await rig.start()
  const listed = await rig.bus.call(opsUnendedRounds, { scope: rig.scope, status: 'OPEN', after: null })
  t.strictSame(
    listed.data.map(({ round_id }) => round_id),
    [roundId],
  )
})

t.test('a round that was abandoned is abandoned again, by the refund that it had', async (t) => {
  const rig = await startRig(t)
  const { round_id: roundId } = await rig.play(await rig.openSession({ game: 'mines' }))
  const end = { status: 'VOIDED', payout: '0.00', outcome: null, end_reason: 'abandoned' } as const
  t.equal((await rig.bus.call(opsEndRoundAsTold, { order, roundId, end })).status, 'VOIDED')
  t.match(await rig.round(roundId), { status: 'VOIDED', payout: '0.00', end_reason: 'abandoned' })
  const refunds = rig.wallet.asked.filter(({ type }) => type === 'REFUND')
  t.equal(refunds.length, 1, 'wallet-bridge knows its id when it was paid before')
})

t.test('a round set back to before its stake is abandoned again, as its event told it', async (t) => {
  const rig = await startRig(t)
  rig.wallet.next({ kind: 'pending', code: 'WALLET_TIMEOUT' })
  const refused = await codeOf(rig.play(await rig.openSession({ game: 'mines' })))
  t.equal(refused, 'WALLET_TIMEOUT')
  const [stake] = rig.wallet.asked
  const roundId = stake?.roundId ?? ''
  t.match(await rig.round(roundId), { status: 'PENDING', end_reason: null })
  const end = { status: 'VOIDED', payout: '0.00', outcome: null, end_reason: 'abandoned' } as const
  const again = () => rig.bus.call(opsEndRoundAsTold, { order, roundId, end })
  t.equal((await again()).status, 'PENDING', 'wallet-bridge is still settling it')
  t.match(await rig.round(roundId), { status: 'PENDING', end_reason: null })
  rig.wallet.end(rig.scope, stake?.transactionId ?? '', 'REFUNDED')
  t.equal((await again()).status, 'VOIDED')
  t.match(await rig.round(roundId), { status: 'VOIDED', payout: '0.00', end_reason: 'abandoned' })
})

t.test('a round whose stake went back for another reason is voided again', async (t) => {
  const rig = await startRig(t)
  const { round_id: roundId } = await rig.play(await rig.openSession({ game: 'mines' }))
  const end = { status: 'VOIDED', payout: '0.00', outcome: null, end_reason: 'returned' } as const
  const again = () => rig.bus.call(opsEndRoundAsTold, { order, roundId, end })
  t.equal(await codeOf(again()), 'CONFLICT', 'its stake has not gone back')
  const [stake] = rig.wallet.asked
  rig.wallet.end(rig.scope, stake?.transactionId ?? '', 'REFUNDED')
  t.equal((await again()).status, 'VOIDED')
  t.match(await rig.round(roundId), { status: 'VOIDED', payout: '0.00', end_reason: 'returned' })
})

t.test('a free round that was voided is voided again, and its free bet is back', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession({ game: 'mines' })
  const body = { player_id: session.player_id, game: 'mines', currency: 'USD', stake: '1.00', count: 1 }
  const asked = { caller: rig.caller(), params: {}, query: {}, body }
  const { grant_id } = (await rig.bus.call(endpoints.createFreeBet.call, asked)).body
  const { round_id: roundId } = await rig.play(session, { free_bet: true })
  const end = { status: 'VOIDED', payout: '0.00', outcome: null, end_reason: 'abandoned' } as const
  t.equal((await rig.bus.call(opsEndRoundAsTold, { order, roundId, end })).status, 'VOIDED')
  const shown = { caller: rig.caller(), params: { grant_id }, query: {}, body: undefined }
  t.equal((await rig.bus.call(endpoints.getFreeBet.call, shown)).body.remaining, 1)
})

/** Every document of the database. */
async function dump({ storage: { db } }: Rig): Promise<Map<string, Document[]>> {
  const collections = await db.listCollections().toArray()
  const read = collections.map(
    async ({ name }) => [name, await db.collection(name).find({}).toArray()] as const,
  )
  return new Map(await Promise.all(read))
}

/** Loses the database and brings back what was dumped; its indexes stay. */
async function restore({ storage: { db } }: Rig, backup: ReadonlyMap<string, Document[]>): Promise<void> {
  for (const { name } of await db.listCollections().toArray()) {
    await db.collection(name).deleteMany({})
    const documents = backup.get(name) ?? []
    if (documents.length > 0) await db.collection(name).insertMany(documents)
  }
}
