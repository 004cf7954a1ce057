import { randomUUID } from 'node:crypto'
import type { Scope } from '@pitboss/contracts/caller'
import { newId } from '@pitboss/runtime/new-id'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { openTestDatabase } from '@pitboss/testing/open-test-database'
import t from 'tap'
import type { RoundState } from '../../src/rules/round.ts'
import { newRound } from '../../src/rules/new-round.ts'
import { createGrantsStore, grantIndexes } from '../../src/storage/grants-store.ts'
import { sequenceOf, scopeKey } from '../../src/storage/round-document.ts'
import { createRefusalsStore } from '../../src/storage/refusals-store.ts'
import { createRoundsStore, roundIndexes } from '../../src/storage/rounds-store.ts'

const now = new Date()
const scope: Scope = { operatorId: randomUUID(), environment: 'SANDBOX' }
const nothingElse = { dueAt: null, events: [], fact: null }

function roundOf(player: string, nonce: number, clientTransactionId: string | null): RoundState {
  const round = newRound({
    session: {
      ...{ _id: newId('ses'), version: 1, scope: scopeKey(scope), ...scope, playerId: player },
      ...{ game: 'dice', currency: 'USD', brandId: null, language: null, country: null, returnUrl: null },
      ...{ metadata: [], limits: null, createdAt: now, expiresAt: now, closedAt: null },
      ...{ outbox: [], outboxAt: null },
    },
    ...{ driver: 'game', gameId: randomUUID(), clientSeed: null, bet: null, stake: 100n, maxPayout: 200n },
    commitment: { nonce, sealedSeed: '', serverSeedHash: '' },
    ...{ grantId: newId('frb'), settleLosses: 'none', requestHash: '', clientTransactionId, now, newId },
    newUuid: randomUUID,
  })
  return { ...round, status: 'SETTLED' }
}

t.test('rounds', async (t) => {
  const db = await openTestDatabase(t)
  const rounds = createRoundsStore({ db })
  const insert = (round: RoundState) => rounds.insert({ round, ...nothingElse }, now)
  /** A round as an earlier release has written it, and goes on to while replicas of both are running. */
  const insertAsBefore = async (round: RoundState) => {
    await insert(round)
    const transactionIds = [round.clientTransactionId ?? '']
    await rounds.collection.updateOne(
      { _id: round.id },
      { $unset: { openedUnder: 1 }, $set: { transactionIds } },
    )
  }

  const twins = [roundOf('old', 1, 'twice'), roundOf('old', 2, 'twice')]
  await t.test('that share an id since an earlier release stay as they are', async (t) => {
    for (const twin of twins) await insertAsBefore(twin)
    await ensureIndexes(db, { rounds: roundIndexes, grants: grantIndexes })
    await insertAsBefore(roundOf('old', 3, 'twice'))
    const found = await rounds.list(scope, { clientTransactionId: 'twice' }, { before: null, max: 9 })
    t.equal(found.length, 3)
    t.equal(found.at(-1)?.id, twins[0]?.id, 'the newest comes first')
    for (const { id } of found) {
      const stored = await rounds.find(scope, id)
      if (stored === null) throw new Error('not found')
      const round = { ...stored.round, endReason: 'changed' }
      t.equal((await rounds.update(stored, { round, ...nothingElse }, now))?.round.endReason, 'changed')
      const claimed = await rounds.claim({ ...stored, version: stored.version + 1 }, now)
      t.equal(claimed?.checks, 1)
    }
  })

  await t.test('of one player have ids of their own, whatever arrives at once', async (t) => {
    t.ok(await insert(roundOf('new', 1, 'mine')))
    t.equal(await insert(roundOf('new', 2, 'mine')), null, 'a taken id')
    t.equal(await insert(roundOf('new', 1, 'other')), null, 'a taken nonce')
    const all = Array.from({ length: 20 }, (_, index) => insert(roundOf('new', 2 + index, 'together')))
    t.equal((await Promise.all(all)).filter((one) => one !== null).length, 1)
    t.ok(await insert(roundOf('new', 50, null)))
    t.ok(await insert(roundOf('new', 51, null)), 'those without an id are as many as they like')
    t.ok(await insert(roundOf('other', 1, 'mine')), 'another player has ids of another nonce sequence')
  })

  await t.test('or the refusal of their request have an id, never both', async (t) => {
    const refusals = createRefusalsStore({ db })
    const stored = await insert(roundOf('refused', 1, 'opened'))
    if (stored === null) throw new Error('not inserted')
    const sequence = sequenceOf(stored.round)
    const refused = { requestHash: 'a', code: 'ROUND_IN_PROGRESS', message: 'no', details: null } as const
    const refusal = { ...refused, transactionId: 'refused' }
    const insertRefusal = (more: object = {}) => refusals.insert(sequence, { ...refusal, ...more }, now)
    t.equal(await insertRefusal({ transactionId: 'opened' }), false)
    t.equal(await insertRefusal(), true)
    t.equal(await insertRefusal({ requestHash: 'b' }), false)
    t.equal(await insert(roundOf('refused', 2, 'refused')), null)
    t.strictSame(await rounds.findRequest(sequence, 'refused'), { refused })
    const opened = await rounds.findRequest(sequence, 'opened')
    t.equal(opened !== null && 'stored' in opened && opened.stored.round.id, stored.round.id)
    t.equal(await rounds.findRequest(sequence, 'neither'), null)
    t.equal((await rounds.findLast(sequence))?.round.nonce, 1, 'a refusal is no round of the nonce sequence')
    t.strictSame(await rounds.last(sequence), { nonce: 1, unfinished: false })
    t.equal((await rounds.listSequence(sequence, { below: null, max: 9 })).length, 1)
    t.equal((await rounds.listByTransaction(scope, 'refused')).length, 0)
    t.equal(await rounds.find(scope, 'refused'), null)
    const document = await db.collection('rounds').findOne({ chain: sequence, openedUnder: 'refused' })
    const day = 86_400_000
    t.strictSame(document?.forgetAt, new Date(now.getTime() + day), 'it stands for a day')
  })

  await t.test('keep the id through every change', async (t) => {
    const stored = await insert(roundOf('kept', 1, 'kept'))
    if (stored === null) throw new Error('not inserted')
    const updated = await rounds.update(stored, { round: stored.round, ...nothingElse }, now)
    t.ok(updated)
    t.notOk(Object.hasOwn(updated?.round ?? {}, 'openedUnder'), 'it is no part of the round')
    t.equal(await insert(roundOf('kept', 2, 'kept')), null)
    t.equal((await rounds.findLast(sequenceOf(stored.round)))?.round.id, stored.round.id)
  })

  await t.test('that were refused a free bet, or have given it back, never get it', async (t) => {
    const grants = createGrantsStore({ db })
    const player = { playerId: 'p', game: 'dice', currency: 'USD' }
    const { _id } = await grants.insert({
      ...{ _id: newId('frb'), scope: scopeKey(scope), environment: scope.environment, ...player },
      ...{ stake: '100', count: 1, remaining: 1, uses: [], createdAt: now, cancelledAt: null },
      ...{ endsAt: new Date(now.getTime() + 60_000), expiresAt: null },
    })
    const use = (roundId: string) => grants.use(scope, _id, roundId, now)
    t.equal(await use('first'), true)
    t.equal(await use('first'), true, 'the same again')
    t.equal(await use('second'), false)
    await grants.giveBack(scope, _id, 'first')
    await grants.giveBack(scope, _id, 'first')
    t.match(await grants.find(scope, _id), { remaining: 1, uses: [] })
    t.equal(await use('second'), false, 'it was refused before')
    t.equal(await use('first'), false, 'over')
    t.match(await grants.find(scope, _id), { remaining: 1, uses: [], closedTo: ['second', 'first'] })
    const answers = await Promise.all(Array.from({ length: 8 }, () => use('third')))
    t.same(new Set(answers), new Set([true]), 'all requests for one round have the same answer')
    t.equal((await grants.find(scope, _id))?.remaining, 0)
    t.equal(await grants.use(scope, newId('frb'), 'third', now), false, 'a grant that does not exist')
  })
})
