import { randomUUID } from 'node:crypto'
import { newId } from '@pitboss/runtime/new-id'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { openTestDatabase } from '@pitboss/testing/open-test-database'
import fc from 'fast-check'
import t from 'tap'
import { newRound } from '../../src/rules/new-round.ts'
import type { RoundState } from '../../src/rules/round.ts'
import { encodeRound, type StoredRound } from '../../src/storage/round-document.ts'
import { createRoundsStore, roundIndexes } from '../../src/storage/rounds-store.ts'
import { updateOf } from '../../src/storage/write-round.ts'
import { shardedRounds } from '../fixtures/sharded-rounds.ts'

const now = new Date('2026-11-23T08:00:00.000Z')
const db = await openTestDatabase(t)
await ensureIndexes(db, { rounds: roundIndexes })
const rounds = createRoundsStore({ db: shardedRounds(db) })

async function insert(): Promise<StoredRound> {
  const session = { operatorId: randomUUID(), environment: 'SANDBOX', playerId: 'p', game: 'dice' } as const
  const round = newRound({
    session: { ...session, _id: newId('ses'), brandId: null, currency: 'USD', expiresAt: now },
    ...{ driver: 'game', gameId: randomUUID(), clientSeed: null, bet: null, stake: 100n, maxPayout: 200n },
    commitment: { nonce: 1, sealedSeed: 'sealed', serverSeedHash: 'hash' },
    ...{ grantId: null, settleLosses: 'none', requestHash: '', clientTransactionId: null, now, newId },
    newUuid: randomUUID,
  })
  const stored = await rounds.insert({ round, dueAt: now, events: [], fact: null }, now)
  if (stored === null) throw new Error('the round was not stored')
  return stored
}

async function read(id: string): Promise<StoredRound> {
  const stored = await rounds.findAnywhere(id)
  if (stored === null) throw new Error('the round is gone')
  return stored
}

/** All of a round but the fields as the database holds them. */
const shown = ({ fields: _, ...stored }: StoredRound) => stored
const written = (stored: StoredRound | null): StoredRound => {
  if (stored === null) throw new Error('another write was first')
  return stored
}
const entry = (id: string) => ({ id, subject: 'events.v1.sandbox.op.round.started', body: '{}' })
const plain = (round: RoundState) => ({ round, dueAt: now, events: [], fact: null })

t.test('what a write says of the round is what the database holds', async (t) => {
  const change = fc.record(
    {
      status: fc.constantFrom<RoundState['status'][]>('OPEN', 'SETTLING', 'SETTLED'),
      payout: fc.constantFrom(null, 0n, 10n ** 30n),
      outcome: fc.constantFrom(null, { roll: '1.00' }, { roll: '1.00', more: ['x'] }),
      actions: fc.constantFrom([], [3], [3, 4]),
      updatedAt: fc.constantFrom(now, new Date(now.getTime() + 1)),
      completedAt: fc.constantFrom(null, now),
    },
    { requiredKeys: [] },
  )
  const steps = fc.array(
    fc.record({ change, rereads: fc.boolean(), tells: fc.boolean(), claims: fc.boolean() }),
    { minLength: 1, maxLength: 6 },
  )
  const holds = fc.asyncProperty(steps, async (walk) => {
    let stored = await insert()
    for (const [index, { change, rereads, tells, claims }] of walk.entries()) {
      if (rereads) stored = await read(stored.round.id)
      if (claims) stored = written(await rounds.claim(stored, new Date(now.getTime() + index)))
      const round = { ...stored.round, ...change }
      const events = tells ? [entry(`evt_${index}`)] : []
      stored = written(await rounds.update(stored, { ...plain(round), events }, now))
      const present = await read(round.id)
      if (JSON.stringify(texts(shown(present))) !== JSON.stringify(texts(shown(stored))))
        throw new Error(`${JSON.stringify(texts(present))} is not ${JSON.stringify(texts(stored))}`)
    }
  })
  await t.resolves(fc.assert(holds, { numRuns: 40 }))
})

/** The same value with its fields in one order, big numbers as text. */
function texts(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`
  if (Array.isArray(value)) return value.map(texts)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(fields.map(([name, one]) => [name, texts(one)]))
}

t.test('a write sends the fields that differ, and no other', async (t) => {
  const stored = await insert()
  const { $set, ...rest } = updateOf(stored, plain({ ...stored.round, status: 'SETTLING' }), now)
  t.strictSame($set, { status: 'SETTLING', dueAt: now, checks: 0 })
  t.strictSame(rest, {})
  const { fields: _, ...unknown } = stored
  t.match(
    updateOf(unknown, plain(stored.round), now).$set,
    encodeRound(stored.round),
    'all without a reading',
  )
})

t.test('a write that changes nothing is a version all the same, once', async (t) => {
  const stored = await insert()
  const first = written(await rounds.update(stored, plain(stored.round), now))
  t.equal(first.version, 2)
  t.equal((await read(stored.round.id)).version, 2)
  t.equal(await rounds.update(stored, plain(stored.round), now), null, 'its fence holds')
})

t.test('fields that only another build knows stay', async (t) => {
  const { round } = await insert()
  const documents = db.collection<{ _id: string }>('rounds')
  await documents.updateOne({ _id: round.id }, { $set: { ofNextBuild: { a: 1 } } })
  const stored = await read(round.id)
  await rounds.update(stored, plain({ ...stored.round, status: 'SETTLING' }), now)
  t.match(await documents.findOne({ _id: round.id }), { status: 'SETTLING', ofNextBuild: { a: 1 } })
})
