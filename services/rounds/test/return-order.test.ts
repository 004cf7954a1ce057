import { randomUUID } from 'node:crypto'
import { newId } from '@pitboss/runtime/new-id'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { openTestDatabase } from '@pitboss/testing/open-test-database'
import t from 'tap'
import { foldFacts } from '../src/actions/fold-facts.ts'
import { newRound } from '../src/rules/new-round.ts'
import { latestOfEach } from '../src/storage/round-facts.ts'
import { reportIndexes } from '../src/wings/reports/storage/reports-store.ts'
import type { StreamDocument } from '../src/wings/returns/storage/return-document.ts'
import { returnIndexes } from '../src/wings/returns/storage/returns-store.ts'
import type { RoundDocument } from '../src/storage/round-document.ts'
import { createRoundsStore, roundIndexes } from '../src/storage/rounds-store.ts'
import { foldingOf } from './fixtures/folding-of.ts'

const roundsPlayed = 450
const begun = new Date('2026-11-26T08:00:00.000Z')
const after = (ms: number) => new Date(begun.getTime() + ms)
const operatorId = '6f1f9d0e-5a0b-4c57-9a52-3d1c1f0f8a41'

/*
 * Nothing counts for a while (the database was slow, the replica with the lease died), and wins end later
 * than losses. The chances that wait are then counted one after the other, with a look after each.
 */
t.test('chances that wait count in an order that their outcomes do not decide', async (t) => {
  const db = await openTestDatabase(t)
  await ensureIndexes(db, { ...reportIndexes, ...returnIndexes, rounds: roundIndexes })
  const rounds = createRoundsStore({ db })
  const ends: (() => Promise<unknown>)[] = []
  for (let number = 0; number < roundsPlayed; number++) {
    const won = number % 2 === 0
    const drawnAt = after(number * 10)
    const session = { operatorId, environment: 'SANDBOX', playerId: randomUUID(), game: 'dice' } as const
    const bet = { target: '49.50', direction: 'under' }
    const round = newRound({
      session: { ...session, _id: newId('ses'), brandId: null, currency: 'USD', expiresAt: begun },
      ...{ driver: 'game', gameId: randomUUID(), clientSeed: null, bet, stake: 100n, maxPayout: 200n },
      commitment: { nonce: 1, sealedSeed: '', serverSeedHash: '' },
      ...{ grantId: null, settleLosses: 'none', requestHash: '', clientTransactionId: null, newId },
      ...{ now: drawnAt, newUuid: randomUUID },
    })
    const drawn = {
      ...round,
      ...{ status: won ? ('SETTLING' as const) : ('SETTLED' as const), payout: won ? 200n : 0n },
      outcome: { ...bet, roll: won ? '10.00' : '90.00', won },
      ...{ updatedAt: drawnAt, completedAt: won ? null : drawnAt },
    }
    const none = { rounds: 0, stakes: 0n, payouts: 0n, refunds: 0n } as const
    const chance = { id: newId('fct'), ...none, trials: { from: 0, to: 1 }, rules: '1' }
    const intent = await rounds.insert({ round, dueAt: begun, events: [], fact: null }, drawnAt)
    if (intent === null) throw new Error('the round was not stored')
    const write = { round: drawn, dueAt: null, events: [], fact: chance }
    const stored = await rounds.update(intent, write, drawnAt)
    if (stored === null) throw new Error('another write was first')
    if (!won) continue
    const endedAt = after(60_000 + number * 10)
    const fact = { id: newId('fct'), rounds: 1, stakes: 100n, payouts: 200n, refunds: 0n } as const
    const over = { ...drawn, status: 'SETTLED' as const, updatedAt: endedAt, completedAt: endedAt }
    ends.push(() => rounds.update(stored, { round: over, dueAt: null, events: [], fact }, endedAt))
  }
  for (const end of ends) await end()

  const folding = foldingOf(db)
  while ((await foldFacts(folding)) > 0);
  const streams = await db
    .collection<StreamDocument>('return_streams')
    .find({ shape: /^chance/ })
    .toArray()
  t.equal(streams.length, 2, 'of the installation and of the account')
  for (const { counts, alarmedAt, points } of streams) {
    t.strictSame(counts, [roundsPlayed / 2, roundsPlayed / 2])
    t.equal(alarmedAt, null, 'every other round won: no alarm')
    for (const { trials, wins } of points)
      t.ok(Math.abs(trials - 2 * wins) <= 1, `${wins} wins after ${trials}`)
  }
})

t.test('a round that moves while it is read counts once, as it was last', (t) => {
  const round = (_id: string, version: number, ms = 0) =>
    ({ _id, version, factsAt: after(ms) }) as RoundDocument
  const read = [round('c', 1, 5), round('b', 1), round('a', 2), round('a', 3)]
  t.strictSame(latestOfEach(read), [round('a', 3), round('b', 1), round('c', 1, 5)])
  t.end()
})
