import { readFileSync } from 'node:fs'
import {
  compareRational,
  multiplyRational,
  type Rational,
  rational,
  rationalToText,
} from '@pitboss/money/rational'
import { drawMines, minesMultiplier } from '../src/games/mines.ts'
import { diceWinningRolls } from '../src/games/dice.ts'
import { DEFAULT_RTP, type Wager } from '../src/games/game.ts'
import { gameBySlug, games } from '../src/games/registry.ts'
import { SPIN_BOTTLE_SECTORS } from '../src/games/spin-bottle.ts'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import t from 'tap'

const seeds = { serverSeed: 'ab'.repeat(32), clientSeed: 'player', nonce: 3 }
const always = (): boolean => true

function wagerOf(slug: string, bet: unknown): Wager {
  const parsed = gameBySlug(slug)?.parseBet(bet)
  if (parsed?.ok !== true) throw new Error(`not a bet of ${slug}: ${JSON.stringify(bet)}`)
  return parsed.wager
}

function issuePaths(slug: string, bet: unknown): string[] {
  const parsed = gameBySlug(slug)?.parseBet(bet)
  return parsed === undefined || parsed.ok ? [] : parsed.issues.map(({ path }) => path)
}

function targetText(index: number): string {
  return `${Math.floor(index / 100)}.${(index % 100).toString().padStart(2, '0')}`
}

await t.test('the published multipliers are exact', async (t) => {
  const { multipliers }: { multipliers: Array<Record<string, string | number>> } = JSON.parse(
    readFileSync(new URL('./fixtures/fairness-vectors.json', import.meta.url), 'utf8'),
  )
  for (const row of multipliers) {
    const multiplier = publishedMultiplier(row)
    t.equal(rationalToText(multiplier), row.multiplier_exact, JSON.stringify(row))
  }
})

function publishedMultiplier(row: Record<string, string | number>): Rational {
  if (row.game === 'mines') return minesMultiplier(DEFAULT_RTP, Number(row.mines), Number(row.tiles_opened))
  if (row.game === 'spin-bottle') {
    return wagerOf('spin-bottle', { pick: 0, sectors: row.sectors }).leastWinMultiplier(DEFAULT_RTP)
  }
  const target = targetText(Number(row.winning_rolls))
  return wagerOf('dice', { target, direction: 'under' }).leastWinMultiplier(DEFAULT_RTP)
}

await t.test('multiplier × chance of winning is R exactly, whatever the bet and R', async (t) => {
  const rtps = fc
    .record({ n: fc.bigInt(1n, 1000n), d: fc.bigInt(1n, 1000n) })
    .map(({ n, d }) => rational(n, d))
  fc.assert(
    fc.property(rtps, fc.integer({ min: 1, max: 9800 }), fc.boolean(), (rtp, winning, over) => {
      const direction = over ? 'over' : 'under'
      const target = over ? 9999 - winning : winning
      const bet = { target: targetText(target), direction }
      const chance = rational(BigInt(diceWinningRolls(target, direction)), 10_000n)
      return (
        compareRational(multiplyRational(wagerOf('dice', bet).leastWinMultiplier(rtp), chance), rtp) === 0
      )
    }),
  )
  fc.assert(
    fc.property(rtps, fc.constantFrom(...SPIN_BOTTLE_SECTORS), (rtp, sectors) => {
      const multiplier = wagerOf('spin-bottle', { pick: sectors - 1, sectors }).leastWinMultiplier(rtp)
      return compareRational(multiplyRational(multiplier, rational(1n, BigInt(sectors))), rtp) === 0
    }),
  )
  fc.assert(
    fc.property(
      rtps,
      fc.integer({ min: 1, max: 24 }),
      fc.integer({ min: 1, max: 24 }),
      (rtp, mines, tiles) => {
        const safe = Math.min(tiles, 25 - mines)
        let chance = rational(1n)
        for (let k = 0; k < safe; k++)
          chance = multiplyRational(chance, rational(BigInt(25 - mines - k), BigInt(25 - k)))
        return compareRational(multiplyRational(minesMultiplier(rtp, mines, safe), chance), rtp) === 0
      },
    ),
  )
  t.pass('300 bets')
})

await t.test('every sector of the bottle owns the same number of angles', async (t) => {
  for (const sectors of SPIN_BOTTLE_SECTORS) t.equal(3600 % sectors, 0, String(sectors))
})

await t.test(
  'the edges of every bet are accepted and one step beyond is refused with its path',
  async (t) => {
    const accepted: Array<[string, unknown]> = [
      ['dice', { target: '0.01', direction: 'under' }],
      ['dice', { target: '98.00', direction: 'under' }],
      ['dice', { target: '99.98', direction: 'over' }],
      ['dice', { target: '1.99', direction: 'over' }],
      ['mines', { mines: 1 }],
      ['mines', { mines: 24 }],
      ['spin-bottle', { pick: 1, sectors: 2 }],
      ['spin-bottle', { pick: 11, sectors: 12 }],
    ]
    for (const [slug, bet] of accepted) t.same(wagerOf(slug, bet).bet, bet, JSON.stringify(bet))
    const refused: Array<[string, unknown, string[]]> = [
      ['dice', { target: '0.00', direction: 'under' }, ['bet.target']],
      ['dice', { target: '98.01', direction: 'under' }, ['bet.target']],
      ['dice', { target: '1.98', direction: 'over' }, ['bet.target']],
      ['dice', { target: '99.99', direction: 'over' }, ['bet.target']],
      ['dice', { target: '100.00', direction: 'under' }, ['bet.target']],
      ['dice', { target: 50, direction: 'under' }, ['bet.target']],
      ['dice', { target: '50.005', direction: 'under' }, ['bet.target']],
      ['dice', { target: '50.00', direction: 'OVER' }, ['bet.direction']],
      ['dice', { target: '50.00' }, ['bet.direction']],
      ['dice', { target: '50.00', direction: 'over', stake: '1' }, ['bet.stake']],
      ['dice', {}, ['bet.target', 'bet.direction']],
      ['dice', null, ['bet']],
      ['dice', [], ['bet']],
      ['mines', { mines: 0 }, ['bet.mines']],
      ['mines', { mines: 25 }, ['bet.mines']],
      ['mines', { mines: 1.5 }, ['bet.mines']],
      ['mines', { mines: '3' }, ['bet.mines']],
      ['spin-bottle', { pick: 0, sectors: 7 }, ['bet.sectors']],
      ['spin-bottle', { pick: 0, sectors: 1 }, ['bet.sectors']],
      ['spin-bottle', { pick: 8, sectors: 8 }, ['bet.pick']],
      ['spin-bottle', { pick: -1, sectors: 8 }, ['bet.pick']],
    ]
    for (const [slug, bet, paths] of refused)
      t.same(issuePaths(slug, bet), paths, `${slug} ${JSON.stringify(bet)}`)
  },
)

await t.test('mines: no bomb is named before the end, repeated tiles count once', async (t) => {
  const { bombs } = drawMines(seeds, 3)
  const safe = Array.from({ length: 25 }, (_, tile) => tile).filter((tile) => !bombs.includes(tile))
  const [first = -1, second = -1] = safe
  const wager = wagerOf('mines', { mines: 3 })
  const open = wager.play({
    seeds,
    rtp: DEFAULT_RTP,
    actions: [first, first],
    cashOut: false,
    payoutFits: always,
  })
  t.same(open, {
    over: false,
    actions: [first],
    multiplier: rational(9n, 8n),
    nextMultiplier: minesMultiplier(DEFAULT_RTP, 3, 2),
  })
  t.match(wager.play({ seeds, rtp: DEFAULT_RTP, actions: [], cashOut: true, payoutFits: always }), {
    over: false,
    multiplier: null,
  })

  const cashed = wager.play({
    seeds,
    rtp: DEFAULT_RTP,
    actions: [first, second],
    cashOut: true,
    payoutFits: always,
  })
  t.match(cashed, {
    over: true,
    won: true,
    endedBy: 'cashout',
    outcome: { tiles_opened: [first, second], bomb_positions: bombs },
  })
  const lost = wager.play({
    seeds,
    rtp: DEFAULT_RTP,
    actions: [first, bombs[1] ?? -1],
    cashOut: false,
    payoutFits: always,
  })
  t.match(lost, {
    over: true,
    won: false,
    endedBy: 'loss',
    multiplier: { n: 0n },
    outcome: { tiles_opened: [first, bombs[1]] },
  })
  const complete = wager.play({ seeds, rtp: DEFAULT_RTP, actions: safe, cashOut: false, payoutFits: always })
  t.match(complete, { over: true, won: true, endedBy: 'complete' })
  const capped = wager.play({
    seeds,
    rtp: DEFAULT_RTP,
    actions: safe,
    cashOut: false,
    payoutFits: (multiplier) => compareRational(multiplier, rational(2n)) <= 0,
  })
  t.match(capped, {
    over: true,
    endedBy: 'max_payout',
    actions: safe.slice(0, 5),
    multiplier: rational(759n, 380n),
  })
})

await t.test('each bet and each outcome is as the schemas of its game say', (t) => {
  const bets: Record<string, fc.Arbitrary<unknown>> = {
    dice: fc.record({
      target: fc.integer({ min: 200, max: 9798 }).map(targetText),
      direction: fc.constant('over'),
    }),
    mines: fc.record({ mines: fc.integer({ min: 1, max: 24 }) }),
    'spin-bottle': fc.record({
      pick: fc.integer({ min: 0, max: 1 }),
      sectors: fc.constantFrom(...SPIN_BOTTLE_SECTORS),
    }),
  }
  const ajv = new Ajv2020()
  for (const game of games) {
    const [isBet, isOutcome] = [game.betSchema, game.outcomeSchema].map((schema) => ajv.compile(schema))
    const tiles = fc.array(fc.integer({ min: 0, max: 24 }), { minLength: 1, maxLength: 25 })
    fc.assert(
      fc.property(bets[game.slug] ?? fc.constant({}), fc.nat(), tiles, (bet, nonce, actions) => {
        const wager = wagerOf(game.slug, bet)
        const end = wager.play({
          ...{ seeds: { ...seeds, nonce }, rtp: game.rtp, payoutFits: always },
          ...{ actions: game.stepwise ? actions : [], cashOut: true },
        })
        return isBet?.(wager.bet) === true && (!end.over || isOutcome?.(end.outcome) === true)
      }),
    )
  }
  t.end()
})

await t.test('a further game is one value and one line of registration', async (t) => {
  const toss = {
    slug: 'toss',
    name: 'Toss',
    version: '1',
    stepwise: false,
    rtp: DEFAULT_RTP,
    betSchema: { type: 'object' },
    outcomeSchema: { type: 'object' },
    parseBet: () => ({ ok: false as const, issues: [] }),
    shapes: () => [],
    readOutcome: () => null,
  }
  t.equal(gameBySlug('toss', [...games, toss]), toss)
  t.equal(gameBySlug('toss'), null)
  t.same(
    games.map(({ slug }) => slug),
    ['dice', 'mines', 'spin-bottle'],
  )
})
