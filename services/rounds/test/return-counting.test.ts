import { isDeepStrictEqual } from 'node:util'
import type { Round } from '@pitboss/contracts/objects/round'
import { addOutcome, noEvidence } from '@pitboss/fairness/returns/evidence'
import { outcomesOf } from '@pitboss/fairness/returns/return-watch'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { openTestDatabase } from '@pitboss/testing/open-test-database'
import { waitFor } from '@pitboss/testing/wait-for'
import fc from 'fast-check'
import type { Db } from 'mongodb'
import t from 'tap'
import { reportIndexes } from '../src/wings/reports/storage/reports-store.ts'
import { type StreamDocument, returnIndexes } from '../src/wings/returns/storage/returns-store.ts'
import { roundIndexes } from '../src/storage/round-lists.ts'
import { dyingAt } from './fixtures/dying-at.ts'
import { type CountedFact, asBeforeTheJournal, beginInstance, countFacts } from './fixtures/count-facts.ts'
import { emptyCollections } from '@pitboss/testing/empty-databases'
import { act, cashOut, safeTile, startRig } from './fixtures/rounds-rig.ts'

const account = '6f1f9d0e-5a0b-4c57-9a52-3d1c1f0f8a41'
const scope = `${account}/SANDBOX`
/** Roughly equal: sums of the same numbers in another order. */
const places = 9

type Played = { roll: number; target: number; currency: string; stake: bigint }

const played: fc.Arbitrary<Played> = fc.record({
  roll: fc.integer({ min: 0, max: 9999 }),
  target: fc.constantFrom(4950, 2500, 100),
  currency: fc.constantFrom('USD', 'ETH'),
  stake: fc.bigInt({ min: 1n, max: 10n ** 21n }),
})
const decimals = (hundredths: number) => (hundredths / 100).toFixed(2)
const rollOf = (roll: number) => decimals(roll).padStart(5, '0')
const betOf = ({ target }: Played) => ({ target: decimals(target), direction: 'under' })
const outcomeOf = (one: Played) => ({ ...betOf(one), roll: rollOf(one.roll), won: one.roll < one.target })

/** The streams that these rounds make, counted in the plainest way: totals, wins and score by place. */
function expected(rounds: readonly { game: string; bet: unknown; outcome: unknown; currency: string }[]) {
  const streams = new Map<string, ReturnType<typeof noEvidence>>()
  for (const round of rounds) {
    for (const { game, shape, win, outcomes, outcome } of outcomesOf(round)) {
      const chance = win === null ? 1 / outcomes : outcome === 0 ? win.chance : 1 - win.chance
      for (const place of ['*', round.currency]) {
        const key = `${place} ${game} ${shape}`
        streams.set(key, addOutcome(streams.get(key) ?? noEvidence(outcomes), outcome, chance))
      }
    }
  }
  const lines = [...streams].map(
    ([key, { counts, log }]) => `${key}: ${counts.join(',')} ${log.toFixed(places)}`,
  )
  return lines.toSorted()
}

async function counted(db: Db): Promise<string[]> {
  const streams = await db.collection<StreamDocument>('return_streams').find({}).toArray()
  const lines = streams.map(
    ({ currency, game, shape, counts, log }) =>
      `${currency ?? '*'} ${game} ${shape}: ${counts.join(',')} ${log.toFixed(places)}`,
  )
  return lines.toSorted()
}

async function seed(db: Db): Promise<void> {
  await emptyCollections(db)
  await beginInstance(db)
}

function factsOf(rounds: readonly Played[]): CountedFact[] {
  const at = new Date('2026-11-20T00:00:00.000Z')
  return rounds.map((one, index) => ({
    fact: {
      ...{ id: `fct_${index}`, rounds: 1, stakes: String(one.stake), payouts: '0', refunds: '0' },
      trials: { from: 0, to: 1, rules: '1' },
    },
    round: {
      ...{ _id: `rnd_${index}`, scope, environment: 'SANDBOX', driver: 'game', freeBet: false, game: 'dice' },
      ...{
        brandId: null,
        playerId: 'p',
        currency: one.currency,
        completedAt: at,
        updatedAt: at,
        actions: [],
      },
      ...{ bet: JSON.stringify(betOf(one)), outcome: JSON.stringify(outcomeOf(one)) },
      ...{ stake: String(one.stake), payout: outcomeOf(one).won ? String(one.stake * 2n) : '0' },
    },
  }))
}

t.test('every chance is counted once, whichever process dies, however many count', async (t) => {
  const db = await openTestDatabase(t)
  await ensureIndexes(db, { ...reportIndexes, ...returnIndexes, rounds: roundIndexes })
  const rounds = fc.sample(played, { numRuns: 40, seed: 11 })
  const wanted = expected(
    rounds.map((one) => ({ ...one, game: 'dice', bet: betOf(one), outcome: outcomeOf(one) })),
  )
  const check = async (what: string) => {
    t.strictSame(await counted(db), wanted, what)
    const streams = await db.collection<StreamDocument>('return_streams').find({}).toArray()
    const numbers = streams.map(({ share, position }) => `${share} ${position}`)
    t.equal(new Set(numbers).size, streams.length, 'no two have the same part of the error budget')
    const [staked, paid] = (['staked', 'paid'] as const).map((sum) =>
      streams.reduce((total, stream) => total + BigInt(stream[sum]), 0n),
    )
    t.equal(
      staked,
      rounds.reduce((total, { stake }) => total + stake, 0n),
      'stakes, exactly',
    )
    const won = rounds.filter((one) => outcomeOf(one).won)
    t.equal(
      paid,
      won.reduce((total, { stake }) => total + stake * 2n, 0n),
      'payouts, exactly',
    )
  }

  const facts = factsOf(rounds)
  await seed(db)
  await Promise.all([countFacts(db, facts), countFacts(db, facts), countFacts(db, facts)])
  await check('three at once')

  for (const dies of [8, 9, 10, 11, 12, 20, 40]) {
    await seed(db)
    const died = await countFacts(dyingAt(db, dies), facts).then(
      () => false,
      () => true,
    )
    await countFacts(db, facts)
    await check(`dead before write ${dies}: ${died}`)
  }

  await seed(db)
  await countFacts(db, facts, [2, 3, 17])
  await countFacts(db, facts)
  await check('entries that land late')

  await seed(db)
  await countFacts(db, facts.slice(0, 5))
  await asBeforeTheJournal(db, 'return_streams', facts.slice(0, 5))
  await asBeforeTheJournal(db, 'report_units', facts.slice(0, 5))
  await countFacts(db, facts)
  await check('facts that a release before the journal has counted and left with their rounds')
})

t.test('two replicas count what the events tell, each chance when it is taken', async (t) => {
  const rig = await startRig(t, { replicas: 2 })
  const [dice, other, mines] = [
    await rig.openSession({ player_id: 'a' }),
    await rig.openSession({ player_id: 'b', currency: 'EUR' }),
    await rig.openSession({ player_id: 'c', game: 'mines' }),
  ]
  const even = { bet: { target: '49.50', direction: 'under' } }
  const finished: Round[] = []
  for (let round = 0; round < 6; round++) {
    finished.push(...(await Promise.all([rig.play(dice, even), rig.play(other, even)])))
  }
  const board = await rig.play(mines, { bet: { mines: 3 } })
  for (let tile = 0; tile < 2; tile++) {
    await act(rig, mines, board.round_id, await safeTile(rig, board.round_id))
  }
  const tiles = async () =>
    (await counted(rig.storage.db))
      .filter((line) => line.startsWith('* mines'))
      .map((line) => line.split(':')[1]?.split(' ')[1])
  await waitFor(async () => (await tiles()).join(' ') === '1,0 1,0', {
    what: 'both tiles of a board that is open to be counted',
  })

  const patient = await rig.openSession({ player_id: 'd' })
  rig.wallet.nextWin({ kind: 'pending', code: 'WALLET_TIMEOUT' })
  const played = [await rig.play(patient)]
  // One in fifty loses.
  while (played.at(-1)?.status !== 'SETTLING') played.push(await rig.play(patient))
  const losses = played.length - 1
  const sure = async () =>
    (await counted(rig.storage.db)).some((line) => line.startsWith(`* dice chance 49/50: 1,${losses}`))
  await waitFor(sure, { what: 'a win that the wallet has not taken yet is counted' })

  const over = [...finished, await cashOut(rig, mines, board.round_id), ...played]
  const isCounted = async () => isDeepStrictEqual(await counted(rig.storage.db), expected(over))
  await waitFor(isCounted, { what: 'all facts to be counted, each once' })
})
