import fc from 'fast-check'
import t from 'tap'
import {
  addSums,
  decodeCells,
  encodeCells,
  type Grain,
  groupings,
  placeIn,
  placeKey,
  reportSegments,
} from '../../src/wings/reports/rules/report.ts'

const grains: Grain[] = ['month', 'day', 'hour']
const at = (text: string) => new Date(text)

t.test('a window is cut into whole units, coarse inside and fine at its ends', async (t) => {
  const segments = reportSegments(at('2026-01-30T22:30:00.000Z'), at('2026-04-02T01:00:00.001Z'), grains)
  t.same(
    segments.map(({ grain, from, to }) => [grain, from.toISOString(), to.toISOString()]),
    [
      ['raw', '2026-01-30T22:30:00.000Z', '2026-01-30T23:00:00.000Z'],
      ['hour', '2026-01-30T23:00:00.000Z', '2026-01-31T00:00:00.000Z'],
      ['day', '2026-01-31T00:00:00.000Z', '2026-02-01T00:00:00.000Z'],
      ['month', '2026-02-01T00:00:00.000Z', '2026-04-01T00:00:00.000Z'],
      ['day', '2026-04-01T00:00:00.000Z', '2026-04-02T00:00:00.000Z'],
      ['hour', '2026-04-02T00:00:00.000Z', '2026-04-02T01:00:00.000Z'],
      ['raw', '2026-04-02T01:00:00.000Z', '2026-04-02T01:00:00.001Z'],
    ],
  )
})

t.test('segments cover every window once, without gap or overlap', async () => {
  const instant = fc.date({ min: at('2020-01-01'), max: at('2030-01-01'), noInvalidDate: true })
  fc.assert(
    fc.property(instant, instant, (a, b) => {
      const [from, to] = a < b ? [a, b] : [b, a]
      let end = from
      for (const segment of reportSegments(from, to, grains)) {
        if (segment.from.getTime() !== end.getTime() || segment.from >= segment.to) return false
        end = segment.to
      }
      return end.getTime() === to.getTime()
    }),
  )
})

t.test('sums and their places survive their text, of any sign and size', async (t) => {
  const amount = fc.bigInt({ min: -(10n ** 33n), max: 10n ** 33n })
  const money = { stakes: amount, payouts: amount, refunds: amount, adjustments: amount }
  const sums = { rounds: fc.nat(), ...money, players: fc.nat() }
  const cell = fc.record({
    game: fc.constantFrom('', 'dice'),
    currency: fc.constantFrom('USD', 'ETH'),
    brand: fc.constantFrom('', 'brd_1'),
    ...sums,
  })
  fc.assert(
    fc.property(fc.array(cell), (cells) => t.same(decodeCells(encodeCells(cells)), cells)),
    {
      numRuns: 50,
    },
  )
  const { players, ...added } = addSums(
    { rounds: 1, stakes: 2n, payouts: 3n, refunds: 4n, adjustments: 0n, players: 5 },
    { rounds: 10, stakes: -20n, payouts: 30n, refunds: 40n, adjustments: -7n },
  )
  t.same(added, { rounds: 11, stakes: -18n, payouts: 33n, refunds: 44n, adjustments: -7n })
  t.equal(players, 5)
  const [earlier] = decodeCells('dice|USD||1|2|3|4|5')
  t.match(earlier, { players: 5, adjustments: 0n }, 'a cell of an earlier release')
  const place = { game: 'dice', currency: 'USD', brand: 'brd_1' }
  t.same(
    groupings.map((grouping) => placeKey(placeIn(grouping, place))),
    ['|USD|', 'dice|USD|', '|USD|brd_1', 'dice|USD|brd_1'],
  )
})
