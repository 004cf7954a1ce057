import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { openTestDatabase } from '@pitboss/testing/open-test-database'
import type { Db } from 'mongodb'
import {
  type Grain,
  type ReportDimension,
  reportRows,
  reportSegments,
} from '../src/wings/reports/rules/report.ts'
import { createReportsStore, reportIndexes } from '../src/wings/reports/storage/reports-store.ts'
import { roundIndexes } from '../src/storage/round-lists.ts'
import fc from 'fast-check'
import t from 'tap'
import { dyingAt } from './fixtures/dying-at.ts'
import { asBeforeTheJournal, beginInstance, type CountedFact, countFacts } from './fixtures/count-facts.ts'
import { emptyCollections } from '@pitboss/testing/empty-databases'

const scope = { operatorId: '6f1f9d0e-5a0b-4c57-9a52-3d1c1f0f8a41', environment: 'SANDBOX' } as const
const groupings: ReportDimension[][] = [
  ['day'],
  ['day', 'game'],
  ['day', 'brand'],
  ['day', 'game', 'brand'],
  ['game'],
  ['brand'],
  ['currency'],
]
const window = [new Date('2026-01-30T05:00:00.000Z'), new Date('2026-03-02T07:00:00.000Z')] as const

type Played = {
  player: string
  game: string
  currency: string
  brandId: string | null
  at: Date
  stake: bigint
}

const played: fc.Arbitrary<Played> = fc.record({
  player: fc.constantFrom('a', 'b', 'c', 'd'),
  game: fc.constantFrom('dice', 'mines'),
  currency: fc.constantFrom('USD', 'ETH'),
  brandId: fc.constantFrom(null, 'brd_1'),
  at: fc.date({
    min: new Date('2026-01-29T00:00:00.000Z'),
    max: new Date('2026-03-03T00:00:00.000Z'),
    noInvalidDate: true,
  }),
  stake: fc.bigInt({ min: 1n, max: 10n ** 21n }),
})

async function seed(db: Db): Promise<void> {
  await emptyCollections(db)
  await beginInstance(db)
}

function factsOf(rounds: readonly Played[]): CountedFact[] {
  return rounds.map(({ player, game, currency, brandId, at, stake }, index) => ({
    fact: { id: `fct_${index}`, rounds: 1, stakes: String(stake), payouts: '7', refunds: '0' },
    round: {
      ...{ _id: `rnd_${index}`, scope: `${scope.operatorId}/${scope.environment}`, environment: 'SANDBOX' },
      ...{ game, currency, brandId, playerId: player, driver: 'game', freeBet: false, actions: [] },
      ...{ bet: null, outcome: null, stake: '0', payout: null, completedAt: at, updatedAt: at },
    },
  }))
}

async function report(db: Db, by: ReadonlySet<ReportDimension>) {
  const store = createReportsStore({ db })
  const grains: Grain[] = by.has('day') ? ['day', 'hour'] : ['month', 'day', 'hour']
  const read = await Promise.all(
    reportSegments(...window, grains).map((segment) => store.read(scope, segment, by)),
  )
  const rows = reportRows(
    read.flatMap(({ parts }) => parts),
    read.flatMap(({ players }) => players),
    by,
  )
  return rows.map(({ players, playersCounted, ...row }) => ({
    ...row,
    players: players.size + playersCounted,
  }))
}

/** The same report added up in the plainest way. */
function expected(rounds: readonly Played[], by: ReadonlySet<ReportDimension>) {
  const rows = new Map<string, { rounds: number; stakes: bigint; players: Set<string> }>()
  for (const { player, game, currency, brandId, at, stake } of rounds) {
    if (at < window[0] || at >= window[1]) continue
    const key = JSON.stringify([
      by.has('day') ? at.toISOString().slice(0, 10) : null,
      by.has('game') ? game : null,
      by.has('brand') ? brandId : null,
      currency,
    ])
    const row = rows.get(key) ?? { rounds: 0, stakes: 0n, players: new Set() }
    row.rounds += 1
    row.stakes += stake
    row.players.add(player)
    rows.set(key, row)
  }
  return [...rows.entries()]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, { rounds, stakes, players }]) => {
      const [day, game, brandId, currency] = JSON.parse(key)
      return {
        day,
        game,
        brandId,
        currency,
        rounds,
        stakes,
        payouts: BigInt(rounds) * 7n,
        refunds: 0n,
        adjustments: 0n,
        players: players.size,
      }
    })
}

t.test('every round and player is counted once, whichever process dies, however many count', async (t) => {
  const db = await openTestDatabase(t)
  await ensureIndexes(db, { ...reportIndexes, rounds: roundIndexes })
  const rounds = fc.sample(played, { numRuns: 40, seed: 7 })
  const check = async (what: string) => {
    for (const grouping of groupings) {
      const by = new Set(grouping)
      t.same(await report(db, by), expected(rounds, by), `${what}, by ${grouping.join(',')}`)
    }
  }

  const facts = factsOf(rounds)
  await seed(db)
  await Promise.all([countFacts(db, facts), countFacts(db, facts), countFacts(db, facts)])
  await check('three at once')

  for (const dies of [0, 1, 2, 3, 20, 60]) {
    await seed(db)
    await countFacts(dyingAt(db, dies), facts).catch(() => undefined)
    await countFacts(db, facts)
    await check(`dead before write ${dies}`)
  }

  await seed(db)
  await countFacts(db, facts, [2, 3, 17])
  await countFacts(db, facts)
  await countFacts(db, facts)
  await check('entries that land late')

  await seed(db)
  await countFacts(db, facts.slice(0, 5))
  await asBeforeTheJournal(db, 'report_units', facts.slice(0, 5))
  await countFacts(db, facts)
  await check('facts that a release before the journal has counted and left with their rounds')
})
