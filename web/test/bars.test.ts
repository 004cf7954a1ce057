import t from 'tap'
import { layOutBars, size } from '../dashboard/src/charts/bars.ts'
import { utcDays } from '../dashboard/src/charts/utc-days.ts'

const of = (...values: bigint[]) => values.map((value, at) => ({ name: `${at}`, text: `${value}`, value }))
const room = size.height - size.top - size.foot

t.test('bars have one scale, up for gains and down for losses, within the drawing', async (t) => {
  const { bars, zero } = layOutBars(of(300n, -100n, 0n), 920)
  const [gain, loss, none] = bars
  t.equal(gain?.height, room * 0.75)
  t.equal(loss?.height, room * 0.25)
  t.equal(gain?.y, size.top)
  t.equal(loss?.y, zero)
  t.equal(zero + (loss?.height ?? 0), size.top + room)
  t.equal(none?.height, 0)
  for (const { x, width } of bars) t.ok(x >= 0 && x + width <= 920)
})

t.test('sums beyond what a number holds keep their scale, and none is invisible', async (t) => {
  const { bars } = layOutBars(of(10n ** 30n, 5n * 10n ** 29n, 1n), 920)
  t.strictSame(
    bars.map(({ height }) => height),
    [room, room / 2, 1],
  )
  t.strictSame(layOutBars(of(0n), 920).bars[0]?.height, 0)
  t.strictSame(layOutBars([], 920).bars, [])
})

t.test('a year of bars stands side by side', async (t) => {
  const { bars } = layOutBars(of(...Array.from({ length: 92 }, () => 1n)), 920)
  for (const [at, bar] of bars.entries()) if (at > 0) t.ok(bar.x > (bars[at - 1]?.x ?? 0), `bar ${at}`)
})

t.test('days without a round are days, too', async (t) => {
  const to = '2026-03-01T00:00:00.000Z'
  t.strictSame(utcDays('2026-02-27T23:59:59.999Z', to, 92), ['2026-02-27', '2026-02-28', '2026-03-01'])
  t.strictSame(utcDays('2020-01-01T00:00:00.000Z', to, 92), [], 'too many to draw')
  t.strictSame(utcDays('2026-03-02T00:00:00.000Z', to, 92), [])
  t.strictSame(utcDays('never', to, 92), [])
})
