import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { openTestDatabase } from '@pitboss/testing/open-test-database'
import t from 'tap'
import { type StreamDocument, returnIndexes } from '../src/wings/returns/storage/returns-store.ts'
import { reportIndexes } from '../src/wings/reports/storage/reports-store.ts'
import { type CountedFact, beginInstance, countFacts } from './fixtures/count-facts.ts'

const roundsPlayed = 450
const begun = new Date('2026-11-26T08:00:00.000Z')
const after = (ms: number) => new Date(begun.getTime() + ms)
const scope = '6f1f9d0e-5a0b-4c57-9a52-3d1c1f0f8a41/SANDBOX'

/*
 * Nothing counts for a while (the database was slow), and wins end later than losses. The chances that wait
 * are then counted one after the other, with a look after each.
 */
t.test('chances that wait count in an order that their outcomes do not decide', async (t) => {
  const db = await openTestDatabase(t)
  await ensureIndexes(db, { ...reportIndexes, ...returnIndexes })
  const draws: CountedFact[] = []
  const ends: CountedFact[] = []
  const bet = { target: '49.50', direction: 'under' }
  for (let number = 0; number < roundsPlayed; number++) {
    const won = number % 2 === 0
    const drawnAt = after(number * 10)
    const round: CountedFact['round'] = {
      ...{
        _id: `rnd_${number}`,
        scope,
        environment: 'SANDBOX',
        game: 'dice',
        currency: 'USD',
        brandId: null,
      },
      ...{ playerId: `p${number}`, driver: 'game', freeBet: false, actions: [], bet: JSON.stringify(bet) },
      outcome: JSON.stringify({ ...bet, roll: won ? '10.00' : '90.00', won }),
      ...{ stake: '100', payout: won ? '200' : '0', completedAt: won ? null : drawnAt, updatedAt: drawnAt },
    }
    const none = { rounds: 0, stakes: '0', payouts: '0', refunds: '0' }
    draws.push({ fact: { id: `drawn ${number}`, ...none, trials: { from: 0, to: 1, rules: '1' } }, round })
    if (!won) continue
    const endedAt = after(60_000 + number * 10)
    const fact = { id: `ended ${number}`, rounds: 1, stakes: '100', payouts: '200', refunds: '0' }
    ends.push({ fact, round: { ...round, completedAt: endedAt, updatedAt: endedAt } })
  }

  await beginInstance(db)
  await countFacts(db, [...draws, ...ends])
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
