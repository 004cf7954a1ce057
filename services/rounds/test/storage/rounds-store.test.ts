import { randomUUID } from 'node:crypto'
import { newId } from '@pitboss/runtime/new-id'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import type { StoredDocument } from '@pitboss/storage/journal/mongodb-journal'
import { openTestDatabase } from '@pitboss/testing/open-test-database'
import t from 'tap'
import { indexes } from '../../src/all-wings.ts'
import { newRound } from '../../src/rules/new-round.ts'
import type { RoundState } from '../../src/rules/round.ts'
import { sequenceOf } from '../../src/storage/round-document.ts'
import { bookKey } from '../../src/storage/round-stream.ts'
import { createRoundWork } from '../../src/storage/due-rounds.ts'
import { IdTaken } from '../../src/storage/append-round.ts'
import type { RoundsStore } from '../../src/storage/rounds-store.ts'
import { shardedRounds } from '../fixtures/sharded-rounds.ts'
import { storedRounds, testJournal } from '../fixtures/stored-rounds.ts'

const now = new Date()
const later = new Date(now.getTime() + 86_400_000)
const plain = await openTestDatabase(t)
await ensureIndexes(plain, indexes)
const db = shardedRounds(plain)
const journal = plain.collection<StoredDocument>('journal')
const replicas = ['ins_a', 'ins_b']
const [a, b] = [replica('ins_a'), replica('ins_b')]
const commitment = { sealedSeed: 'v1.k.x', serverSeedHash: 'hash', createdAt: now }

function replica(o: string): RoundsStore {
  return storedRounds(db, testJournal(db, o, replicas))
}

function roundOf(playerId: string, more: { nonce?: number; operator?: string } = {}): RoundState {
  const { nonce = 1, operator = null } = more
  return newRound({
    session: {
      ...{ _id: newId('ses'), operatorId, environment: 'SANDBOX', playerId, game: 'dice' },
      ...{ brandId: null, currency: 'USD', expiresAt: later },
    },
    ...{ gameId: randomUUID(), clientSeed: null, bet: null, stake: 100n, maxPayout: 200n },
    ...{ driver: operator === null ? 'game' : 'operator', clientTransactionId: operator },
    commitment: { nonce, ...commitment },
    ...{ grantId: null, requestHash: '', now, newId, newUuid: randomUUID },
  })
}

const operatorId = randomUUID()

async function insert(store: RoundsStore, round: RoundState, dueAt: Date = now) {
  return store.insert({ round, dueAt }, { committedAt: now, next: commitment })
}

async function inserted(store: RoundsStore, round: RoundState, dueAt: Date = now) {
  const stored = await insert(store, round, dueAt)
  if (stored === null) throw new Error('the nonce is taken')
  return stored
}

async function dueAt(store: RoundsStore, at: Date): Promise<string[]> {
  const { pages } = await store.findDue(at, { after: '', tenantsMax: 10, roundsMax: 100 })
  return pages.flat().map(({ round }) => round.id)
}

t.test('of two processes that open the next round of a sequence one has its nonce', async (t) => {
  const rounds = [roundOf('book'), roundOf('book')] as const
  const opened = await Promise.all([insert(a, rounds[0]), insert(b, rounds[1])])
  t.equal(opened.filter((stored) => stored !== null).length, 1)
  const [winner] = opened.flatMap((stored) => stored?.round.id ?? [])
  const sequence = sequenceOf(rounds[0])
  for (const store of [a, b]) {
    t.match(await store.last(sequence), { nonce: 1, unfinished: true })
    t.equal((await store.findUnfinished(sequence))?.round.id, winner)
  }
})

async function ended(store: RoundsStore, round: RoundState) {
  const stored = await inserted(store, round)
  const over = { ...stored.round, status: 'SETTLED' as const, completedAt: now }
  const end = await store.update(stored, { round: over, dueAt: null, events: [], fact: null })
  if (end === null) throw new Error('another entry was first')
  return end
}

t.test('a process knows at once what another has played after the round that it remembers', async (t) => {
  const first = await ended(a, roundOf('both'))
  const sequence = sequenceOf(first.round)
  t.match(await a.last(sequence), { nonce: 1, unfinished: false })
  t.match(await b.last(sequence), { nonce: 1, unfinished: false })
  await ended(b, roundOf('both', { nonce: 2 }))
  t.match(await a.last(sequence), { nonce: 2, unfinished: false })
  const third = await inserted(b, roundOf('both', { nonce: 3 }))
  t.match(await a.last(sequence), { nonce: 3, unfinished: true })
  t.ok(await b.remove(third), 'it is taken back')
  t.match(await a.last(sequence), { nonce: 2, unfinished: false })
})

t.test('a process that has become another instance trusts nothing that it remembers', async (t) => {
  const own: { o: string | null } = { o: 'ins_before' }
  const running = testJournal(db, 'ins_before')
  const store = storedRounds(db, {
    ...running,
    journal: { ...running.journal, instance: () => own.o },
    alive: () => ['ins_before'],
  })
  const first = await ended(store, roundOf('restored'))
  const sequence = sequenceOf(first.round)
  // The database is set back to before the round.
  await journal.deleteMany({ _id: { $gt: `${first.stream}/`, $lt: `${first.stream}0` } })
  await journal.deleteOne({ _id: bookKey(sequence, 1) })
  t.match(await store.last(sequence), { nonce: 1 }, 'nobody else can have played')
  for (const o of ['ins_after', null]) {
    own.o = o
    t.match(await store.last(sequence), { nonce: 0, unfinished: false }, `as ${o}`)
  }
})

t.test('a round that was taken back leaves its nonce, also where its claim came back', async (t) => {
  const round = roundOf('back')
  const sequence = sequenceOf(round)
  const stored = await inserted(a, round)
  const claim = await journal.findOne({ _id: bookKey(sequence, 1) })
  t.ok(await a.remove(stored))
  if (claim === null) throw new Error('there was no claim')
  await journal.insertOne(claim)
  t.match(await b.last(sequence), { nonce: 0, unfinished: false })
  t.equal(await b.findAnywhere(round.id), null)
  t.ok(await insert(b, roundOf('back')), 'the next round has it')
  t.match(await a.last(sequence), { nonce: 1, unfinished: true })
})

t.test(
  'what another process has taken is not taken back, and what was taken back is not taken',
  async (t) => {
    const first = await inserted(a, roundOf('adopted'))
    t.ok(await b.claim(first, later))
    t.notOk(await a.remove(first))
    const second = await inserted(a, roundOf('removed'))
    t.ok(await a.remove(second))
    t.equal(await b.claim(second, later), null)
  },
)

t.test('a round is worked on by the process that has written last', async (t) => {
  const { round } = await inserted(a, roundOf('owned'))
  t.ok((await dueAt(a, now)).includes(round.id))
  const found = await b.findAnywhere(round.id)
  t.equal(found, null, 'no list shows it yet')
  const stored = await replica('ins_a').findLast(sequenceOf(round))
  if (stored === null) throw new Error('the round is gone')
  t.ok(await b.claim(stored, now), 'for an order, or an event of its movement')
  t.notOk((await dueAt(a, now)).includes(round.id))
  t.ok((await dueAt(b, now)).includes(round.id))
})

t.test('what a dead process owes is due at once for the one that takes it over', async (t) => {
  const { round, stream } = await inserted(a, roundOf('left'), later)
  await b.takeOver(stream)
  t.ok((await dueAt(b, new Date())).includes(round.id))
})

t.test('who asked for a stake has exited where that is known, and not where it is silent', async (t) => {
  const stored = await inserted(a, roundOf('asked'))
  const [stake] = stored.round.stakes
  const id = stake?.transactionId ?? ''
  const seenBy = (o: string, exited: readonly string[]) =>
    storedRounds(db, testJournal(db, o, [o], exited)).hasAskerExited(stored, id)
  t.ok(await seenBy('ins_b', ['ins_a']))
  t.notOk(await seenBy('ins_b', []), 'it is silent')
  t.notOk(await seenBy('ins_a', ['ins_a']), 'it is this one')
  t.ok(await b.claim(stored, now))
  t.notOk(await seenBy('ins_c', ['ins_b']), 'who has taken the round over has not asked')
  t.ok(await seenBy('ins_c', ['ins_a', 'ins_b']))
  t.notOk(
    await storedRounds(db, testJournal(db, 'ins_c', [], ['ins_a'])).hasAskerExited(stored, 'other'),
    'the round has no such stake',
  )
})

t.test('a commitment that a page was shown stays that of the next nonce', async (t) => {
  const stored = await inserted(a, roundOf('shown'))
  const sequence = sequenceOf(stored.round)
  t.match((await b.lastShown(sequence)).last, { nonce: 1, next: commitment })
  t.notOk(await a.remove(stored), 'the round is not taken back')
  const entries = () =>
    journal.countDocuments({ _id: { $gt: `${stored.stream}/`, $lt: `${stored.stream}0` } })
  const before = await entries()
  await b.lastShown(sequence)
  t.equal(await entries(), before, 'once is enough')
})

t.test('a movement whose id is another’s leaves the round as it was', async (t) => {
  const [first, second] = [
    await inserted(a, roundOf('one', { operator: 'first' })),
    await inserted(b, roundOf('two', { operator: 'second' })),
  ]
  const [stake] = first.round.stakes
  if (stake === undefined) throw new Error('the round has no stake')
  const added = { ...first.round, stakes: [stake, { ...stake, transactionId: 'second' }] }
  await t.rejects(a.update(first, { round: added, dueAt: now, events: [], fact: null }), IdTaken)
  t.strictSame((await b.findLast(sequenceOf(first.round)))?.round.stakes, [stake])
  const { operatorId: account, environment } = first.round
  const found = await a.listByTransaction({ operatorId: account, environment }, 'second')
  t.strictSame(
    found.map(({ round }) => round.id),
    [second.round.id],
  )
})

t.test('an append whose fate is not known is answered as unavailable', async (t) => {
  const { journal: parts, ...rest } = testJournal(db, 'ins_c')
  const store = storedRounds(db, { ...rest, journal: { ...parts, nextWriter: async () => null } })
  await t.rejects(insert(store, roundOf('unknown')), { code: 'SERVICE_UNAVAILABLE' })
})

t.test('what is owed and dated far ahead is due, as a clock that was ahead has dated it', async (t) => {
  const work = createRoundWork()
  const waiting = { stream: '00/x', scope: 'x/SANDBOX', checks: 0 }
  work.note('owed', { ...waiting, dueAt: later, isOwed: true })
  work.note('open', { ...waiting, dueAt: later, isOwed: false })
  work.note('soon', { ...waiting, dueAt: new Date(now.getTime() + 1000), isOwed: true })
  const due = work.due(now).get('x/SANDBOX') ?? []
  t.strictSame(
    due.map(({ roundId }) => roundId),
    ['owed'],
  )
})
