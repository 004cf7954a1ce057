import t from 'tap'
import { newRound } from '../../src/rules/new-round.ts'
import type { RoundState } from '../../src/rules/round.ts'
import { rememberLast } from '../../src/storage/remember-last.ts'
import { type RoundWrite, sequenceOf, type StoredRound } from '../../src/storage/round-document.ts'
import type { RoundsStore } from '../../src/storage/rounds-store.ts'

let nowMs = 1_700_000_000_000
const clock = { now: () => new Date(nowMs) }
const scope = { operatorId: '00000000-0000-4000-8000-0000000000aa', environment: 'SANDBOX' } as const
const first = newRound({
  session: {
    ...{ _id: 'ses', ...scope, playerId: 'p', game: 'dice' },
    ...{ currency: 'USD', brandId: null, expiresAt: clock.now() },
  },
  ...{ driver: 'game', gameId: 'g', clientSeed: null, bet: null, stake: 100n, maxPayout: 200n },
  commitment: { nonce: 1, sealedSeed: '', serverSeedHash: '' },
  ...{ grantId: null, settleLosses: 'none', requestHash: '', clientTransactionId: null, now: clock.now() },
  newId: (prefix) => prefix,
  newUuid: () => 'uuid',
})
const sequence = sequenceOf(first)
const storedAs = (round: RoundState): StoredRound => ({
  ...{ round, version: 1, dueAt: null, checks: 0, claims: 0, outbox: [] },
})
const writeOf = (round: RoundState): RoundWrite => ({ round, dueAt: null, events: [], fact: null })

/** A store in which the round of nonce 9 is the last; it counts the reads of it. */
function startMemory() {
  let reads = 0
  let taken = false
  const store: Partial<RoundsStore> = {
    async last() {
      reads += 1
      return { nonce: 9, unfinished: true }
    },
    insert: async ({ round }) => (taken ? null : storedAs(round)),
    update: async (_stored, { round }) => (taken ? null : storedAs(round)),
    skipTo: async () => undefined,
    skipNext: async () => undefined,
  }
  // Safe: the memory calls these five alone.
  const memory = rememberLast(store as RoundsStore, clock)
  return { memory, reads: () => reads, take: () => (taken = true) }
}

t.test('the end of a round saves the read before the next one', async (t) => {
  const { memory, reads } = startMemory()
  t.same(await memory.last(sequence), { nonce: 9, unfinished: true })
  await memory.update(storedAs(first), writeOf({ ...first, status: 'SETTLED' }), clock.now())
  t.same(await memory.last(sequence), { nonce: 1, unfinished: false })
  t.equal(reads(), 1)
})

t.test('a round that is not over, or not written, is not remembered', async (t) => {
  const { memory, reads, take } = startMemory()
  await memory.insert(writeOf(first), clock.now())
  await memory.update(storedAs(first), writeOf({ ...first, status: 'OPEN' }), clock.now())
  t.equal((await memory.last(sequence)).nonce, 9)
  take()
  await memory.update(storedAs(first), writeOf({ ...first, status: 'SETTLED' }), clock.now())
  t.equal((await memory.last(sequence)).nonce, 9)
  t.equal(reads(), 2)
})

t.test('an older round that is told once more does not hide the newer one', async (t) => {
  const { memory } = startMemory()
  const end = (nonce: number) =>
    memory.update(storedAs(first), writeOf({ ...first, nonce, status: 'SETTLED' }), clock.now())
  await end(4)
  await end(3)
  t.equal((await memory.last(sequence)).nonce, 4)
})

t.test('it is forgotten when the place is taken, when nonces are left out, and after a minute', async (t) => {
  const { memory, take } = startMemory()
  const end = () => memory.update(storedAs(first), writeOf({ ...first, status: 'SETTLED' }), clock.now())
  await end()
  await memory.skipTo(sequence, 5, first)
  t.equal((await memory.last(sequence)).nonce, 9)
  await end()
  await memory.skipNext(sequence, 'rnd_lost', first)
  t.equal((await memory.last(sequence)).nonce, 9)
  await end()
  nowMs += 60_000
  t.equal((await memory.last(sequence)).nonce, 9)
  await end()
  take()
  t.equal(await memory.insert(writeOf({ ...first, nonce: 2 }), clock.now()), null)
  t.equal((await memory.last(sequence)).nonce, 9)
})
