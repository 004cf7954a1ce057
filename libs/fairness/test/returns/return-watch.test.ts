import t from 'tap'
import {
  emptyWatch,
  type ReturnWatch,
  viewOf,
  watchOutcome,
  watchRound,
} from '../../src/returns/return-watch.ts'
import { games } from '../../src/games/registry.ts'
import { readTrials } from '../../src/returns/read-trials.ts'

const dice = (roll: string, won: boolean, target = '50.49', direction = 'over') => ({
  ...{ game: 'dice', bet: { target, direction } },
  outcome: { roll, target, direction, won },
})
const mines = (tiles_opened: number[], bomb_positions: number[]) => ({
  ...{ game: 'mines', bet: { mines: bomb_positions.length } },
  outcome: {
    tiles_opened,
    bomb_positions,
    won: tiles_opened.every((tile) => !bomb_positions.includes(tile)),
  },
})
const shapes = (round: Parameters<typeof readTrials>[0]) =>
  readTrials(round)?.trials.map(({ shape, won }) => `${shape}: ${won}`)

t.test('a round is read as the chances that it took', async (t) => {
  t.same(shapes(dice('70.00', true)), ['chance 99/200: true'])
  t.same(readTrials(dice('70.00', true))?.drawn, { part: 14, parts: 20 })
  t.same(
    shapes(dice('10.00', true, '49.50', 'under')),
    ['chance 99/200: true'],
    'bets of one multiplier are one shape',
  )
  t.same(
    readTrials({
      ...{ game: 'spin-bottle', bet: { pick: 1, sectors: 4 } },
      outcome: { angle: '359.9', pick: 1, sectors: 4, sector: 3, won: false },
    }),
    {
      ...{ game: 'spin-bottle', rtp: { n: 99n, d: 100n }, drawn: { part: 19, parts: 20 } },
      trials: [{ shape: 'chance 1/4', chance: { n: 1n, d: 4n }, won: false }],
    },
  )
  t.same(shapes(mines([3, 4, 9], [9, 20])), [
    'tile 1 beside 2 mines: true',
    'tile 2 beside 2 mines: true',
    'tile 3 beside 2 mines: false',
  ])
  t.same(readTrials(mines([3, 4], [9, 20]))?.trials[1]?.chance, { n: 11n, d: 12n })
})

t.test('a round that goes on has the trials that it has when it is over', async (t) => {
  const open = { game: 'mines', bet: { mines: 2 }, outcome: null, actions: [3, 4] }
  t.strictSame(readTrials(open)?.trials, readTrials(mines([3, 4, 9], [9, 20]))?.trials.slice(0, 2))
  t.equal(readTrials({ ...open, actions: [] }), null, 'none before the first tile')
})

t.test('the rules of a game change with their version', async (t) => {
  const pinned = games.map(({ slug, version, rtp }) => `${slug} ${version}: ${rtp.n}/${rtp.d}`)
  t.same(pinned, ['dice 1: 99/100', 'mines 1: 99/100', 'spin-bottle 1: 99/100'])
})

t.test('what no game of ours decided is left out', async (t) => {
  const others: Parameters<typeof readTrials>[0][] = [
    { ...dice('70.00', true), outcome: null },
    { ...dice('70.00', true), bet: null },
    { ...dice('70.00', true), game: 'poker' },
    { ...dice('70.00', true), outcome: { reels: [7, 7, 7] } },
    { ...mines([1], [2]), outcome: { tiles_opened: [99], bomb_positions: [2], won: true } },
  ]
  for (const round of others) t.equal(watchRound(emptyWatch, round), emptyWatch)
})

/** A repeatable source of numbers from 0 to below 1 (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
const even = { game: 'dice', shape: 'chance 99/200', win: { chance: 0.495, rtp: 0.99 }, outcomes: 2 } as const
function play(watch: ReturnWatch, rounds: number, chance: number, next: () => number): ReturnWatch {
  let after = watch
  for (let round = 0; round < rounds; round++) {
    after = watchOutcome(after, { ...even, outcome: next() < chance ? 0 : 1 })
  }
  return after
}
const streamOf = (watch: ReturnWatch) => {
  const [stream] = Object.values(watch.streams)
  if (stream === undefined) throw new Error('no stream')
  return stream
}

t.test('an error of five points is an alarm in both directions, and stays one', async (t) => {
  for (const points of [-0.05, 0.05]) {
    const wrong = play(emptyWatch, 30_000, 0.495 * (1 + points / 0.99), numbers(7))
    const { alarmedAt } = streamOf(wrong)
    t.ok(alarmedAt !== null && alarmedAt < 30_000, `${points}: after ${alarmedAt}`)
    const { low, high, rtp } = viewOf(streamOf(wrong))
    t.ok((high ?? 0) < (rtp ?? 0) || (low ?? 1) > (rtp ?? 1), 'the band has left the return of the game')
    t.equal(streamOf(play(wrong, 1000, 0.495, numbers(8))).alarmedAt, alarmedAt)
  }
})

t.test('a fair game is none, and its band narrows around its return', async (t) => {
  const early = play(emptyWatch, 1000, 0.495, numbers(3))
  const late = play(early, 30_000, 0.495, numbers(4))
  for (const watch of [early, late]) t.equal(streamOf(watch).alarmedAt, null)
  const [wide, narrow] = [viewOf(streamOf(early)), viewOf(streamOf(late))]
  const width = ({ low, high }: typeof wide) => (high ?? 0) - (low ?? 0)
  t.ok(width(narrow) < width(wide) / 3)
  t.ok((narrow.low ?? 1) < 0.99 && (narrow.high ?? 0) > 0.99)
})

t.test('a watch that was kept as JSON goes on as if it had not been', async (t) => {
  const half = play(emptyWatch, 5000, 0.52, numbers(1))
  const kept: ReturnWatch = JSON.parse(JSON.stringify(half))
  t.strictSame(play(kept, 5000, 0.52, numbers(2)), play(half, 5000, 0.52, numbers(2)))
})

t.test('a draw that prefers some numbers is an alarm although every bet is paid right', async (t) => {
  const next = numbers(5)
  let watch = emptyWatch
  for (let round = 0; round < 6000; round++) {
    const drawn = next() < 0.1 ? 0 : Math.floor(next() * 20)
    watch = watchOutcome(watch, { game: 'dice', shape: 'draws', win: null, outcomes: 20, outcome: drawn })
  }
  t.ok(streamOf(watch).alarmedAt !== null)
  t.same(viewOf(streamOf(watch)).rtp, null)
})
