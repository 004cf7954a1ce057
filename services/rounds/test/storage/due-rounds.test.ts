import { randomUUID } from 'node:crypto'
import { newId } from '@pitboss/runtime/new-id'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { openTestDatabase } from '@pitboss/testing/open-test-database'
import t from 'tap'
import { newRound } from '../../src/rules/new-round.ts'
import type { RoundState } from '../../src/rules/round.ts'
import { createRoundsStore, roundIndexes } from '../../src/storage/rounds-store.ts'
import { shardedRounds } from '../fixtures/sharded-rounds.ts'

const now = new Date('2026-11-22T12:00:00.000Z')
const inMs = (ms: number) => new Date(now.getTime() + ms)
const all = { after: '', tenantsMax: 10, roundsMax: 40, misdated: false }

const db = await openTestDatabase(t)
await ensureIndexes(db, { rounds: roundIndexes })
const rounds = createRoundsStore({ db: shardedRounds(db) })

/** Stores a round of the tenant that is due at this time; answers its id. */
async function store(operatorId: string, dueAt: Date, changed: Partial<RoundState> = {}): Promise<string> {
  const round = newRound({
    session: {
      ...{ _id: newId('ses'), operatorId, environment: 'SANDBOX', playerId: randomUUID(), game: 'dice' },
      ...{ brandId: null, currency: 'USD', expiresAt: now },
    },
    ...{ driver: 'game', gameId: randomUUID(), clientSeed: null, bet: null, stake: 100n, maxPayout: 200n },
    commitment: { nonce: 1, sealedSeed: '', serverSeedHash: '' },
    ...{ grantId: null, settleLosses: 'none', requestHash: '', clientTransactionId: null, now, newId },
    newUuid: randomUUID,
  })
  await rounds.insert({ round: { ...round, ...changed }, dueAt, events: [], fact: null }, now)
  return round.id
}
const [a, b, c] = ['a', 'b', 'c'].map((first) => `${first}${randomUUID().slice(1)}`)
if (a === undefined || b === undefined || c === undefined) throw new Error('three tenants are needed')
const idsOf = (pages: readonly (readonly { round: { id: string } }[])[]) =>
  pages.map((page) => page.map(({ round }) => round.id))

t.test('due rounds come in a page for each tenant, longest due first', async (t) => {
  const ofA: string[] = []
  for (let number = 0; number < 30; number++) ofA.push(await store(a, inMs(-30_000 + number)))
  const ofB = await store(b, inMs(-10))
  await store(c, inMs(5000))

  const found = await rounds.findDue(now, all)
  t.strictSame(idsOf(found.pages), [ofA.slice(0, 20), [ofB]], 'the share is 20 of 40, and c has none')
  t.equal(found.mayHaveMore, true)
  const first = await rounds.findDue(now, { ...all, tenantsMax: 1 })
  t.strictSame([first.pages.length, first.sweptTo, first.mayHaveMore], [1, `${a}/SANDBOX`, true])
  const second = await rounds.findDue(now, { ...all, after: first.sweptTo })
  t.strictSame(idsOf(second.pages), [[ofB]], 'the next look goes on after the tenant')
  t.equal(second.sweptTo, '', 'and the one after it begins anew')
})

t.test('a due time further away than any delay counts as due', async (t) => {
  const day = 24 * 60 * 60 * 1000
  const owed = await store(c, inMs(day), { status: 'SETTLING' })
  await store(c, inMs(60_000), { status: 'SETTLING' })
  await store(c, inMs(20 * 60_000), { status: 'OPEN', lastActionAt: inMs(-600_000) })
  const { pages } = await rounds.findDue(inMs(-day / 2), { ...all, misdated: true })
  t.ok(idsOf(pages).flat().includes(owed), 'from half a day before')
  const found = await rounds.findDue(now, { ...all, after: `${b}/SANDBOX`, misdated: true })
  t.strictSame(idsOf(found.pages), [[owed]], 'a round that a player may still play is left alone')
})

t.test('a due time is moved only while the round is as it was claimed', async (t) => {
  const id = await store(b, inMs(-5), { status: 'SETTLING' })
  const stored = await rounds.findAnywhere(id)
  const claimed = stored === null ? null : await rounds.claim(stored, inMs(15_000))
  if (claimed === null) return t.fail('the round was not claimed')
  await rounds.postpone(claimed, inMs(60_000))
  t.strictSame((await rounds.findAnywhere(id))?.dueAt, inMs(60_000))
  await rounds.postpone(claimed, inMs(90_000))
  t.strictSame((await rounds.findAnywhere(id))?.dueAt, inMs(60_000), 'it has changed since')
})

t.test('an intent that was claimed is not removed, though its due time is as before', async (t) => {
  const id = await store(b, inMs(4000))
  const intended = await rounds.findAnywhere(id)
  if (intended === null) return t.fail('the round is not stored')
  t.not(await rounds.claim(intended, inMs(4000)), null, 'in the millisecond in which it was stored')
  t.equal(await rounds.remove(intended), false)
  t.not(await rounds.findAnywhere(id), null)
})
