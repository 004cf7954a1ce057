import t from 'tap'
import {
  emptyBook,
  exceededLimit,
  type LimitBook,
  settleCharges,
  usedOf,
  changeLimits,
  limitsAt,
  periodAt,
  type PlayerLimit,
  playedMs,
} from '../../src/wings/protection/rules/player-limits.ts'
import type { Stake } from '../../src/rules/round.ts'

const at = (text: string) => new Date(text)
const now = at('2026-11-25T21:30:00.000Z')
const [dayMs, minuteMs] = [86_400_000, 60_000]
const lossOf = (value: bigint, more: Partial<PlayerLimit> = {}): PlayerLimit => ({
  ...{ kind: 'loss', period: 'day', currency: 'USD', value, next: null },
  ...more,
})
const stakeOf = (transactionId: string, state: Stake['state'], minor = 100n): Stake => ({
  ...{ transactionId, minor, state, requestHash: '', refusal: null },
  wasTaken: state === 'TAKEN',
})
const bookOf = (...ids: string[]): LimitBook => ({
  charges: ids.map((id) => ({ transactionId: id, roundId: id, currency: 'USD', minor: 100n, at: now })),
  sums: [],
})
const paid = (minor: bigint) =>
  ({ transactionId: 'win', minor, requestHash: '', final: true, state: 'PAID' }) as const

t.test('a day, a week from Monday and a month are of UTC', async (t) => {
  const text = (period: 'day' | 'week' | 'month', time: Date) =>
    Object.values(periodAt(period, time)).map((one) => one.toISOString().slice(0, 10))
  t.same(text('day', now), ['2026-11-25', '2026-11-26'])
  t.same(text('week', now), ['2026-11-23', '2026-11-30'])
  t.same(text('week', at('2026-11-29T23:59:59.999Z')), ['2026-11-23', '2026-11-30'], 'a Sunday')
  t.same(text('month', at('2026-12-31T12:00:00.000Z')), ['2026-12-01', '2027-01-01'])
})

t.test('a lower limit holds at once, a higher one or none after a day', async (t) => {
  const [first] = changeLimits([], [lossOf(5000n)], now)
  t.match(first, { value: 5000n, next: null }, 'a new one')
  const set = (limits: readonly PlayerLimit[], value: bigint | null, time: Date) =>
    changeLimits(limits, value === null ? [] : [lossOf(value)], time)
  const raised = set([lossOf(5000n)], 9000n, now)
  const later = new Date(now.getTime() + dayMs)
  t.match(raised, [{ value: 5000n, next: { value: 9000n, at: later } }])
  t.match(set(raised, 1000n, now), [{ value: 1000n, next: null }], 'a lower one ends the wait')
  const hourLater = new Date(now.getTime() + 3_600_000)
  t.same(set(raised, 9000n, hourLater), raised, 'the same again')
  t.match(set(raised, 8000n, hourLater), [{ next: { value: 8000n, at: later } }], 'less of a raise')
  const more = set(raised, 9001n, hourLater)
  t.match(
    more,
    [{ value: 5000n, next: { at: new Date(hourLater.getTime() + dayMs) } }],
    'more of it waits anew',
  )
  const removed = set([lossOf(5000n)], null, now)
  t.match(removed, [{ value: 5000n, next: { value: null, at: later } }])
  t.match(set(removed, 9000n, hourLater), [{ next: { value: 9000n, at: later } }])
  t.same(limitsAt(removed, new Date(later.getTime() - 1)), removed)
  t.same(limitsAt(removed, later), [])
  t.match(limitsAt(raised, later), [{ value: 9000n, next: null }])
})

t.test('a stake counts until it is certain that it was not taken', async (t) => {
  const limit = lossOf(1000n)
  const used = (book: LimitBook) => usedOf(book, limit, now)
  const settle = (...rounds: Parameters<typeof settleCharges>[1][number][]) =>
    settleCharges(bookOf('a'), rounds, now)
  const round = { id: 'a', wins: [] }
  for (const status of ['PENDING', 'OPEN', 'SETTLING'] as const) {
    t.equal(used(settle({ ...round, status, stakes: [stakeOf('a', 'ASKED')] })), 100n, `${status}, asked`)
  }
  t.equal(used(settle({ ...round, status: 'OPEN', stakes: [stakeOf('a', 'RETURNING')] })), 100n)
  t.equal(used(settle({ ...round, status: 'OPEN', stakes: [stakeOf('a', 'RETURNED')] })), 0n)
  t.equal(used(settle({ ...round, status: 'FAILED', stakes: [stakeOf('a', 'REFUSED')] })), 0n)
  t.equal(used(settle({ ...round, status: 'VOIDED', stakes: [stakeOf('a', 'RETURNED')] })), 0n)
  t.equal(used(settle({ ...round, status: 'OPEN', stakes: [] })), 0n, 'its intent was taken back')
  t.same(settle(), emptyBook, 'its round was taken back')
  t.equal(used(settle({ ...round, status: 'SETTLED', stakes: [stakeOf('a', 'TAKEN')] })), 100n, 'lost')
})

t.test('a charge that comes after its round was counted takes nothing off once more', async (t) => {
  const stakes = [stakeOf('a', 'TAKEN'), stakeOf('late', 'RETURNED')]
  const won = { id: 'a', status: 'SETTLED', stakes, wins: [paid(250n)] } as const
  const book = settleCharges(bookOf('a'), [won], now)
  t.equal(usedOf(book, lossOf(0n), now), -150n)
  const [charge] = bookOf('a').charges
  if (charge === undefined) throw new Error('the book is empty')
  const late = { ...book, charges: [{ ...charge, transactionId: 'late' }] }
  t.same(usedOf(settleCharges(late, [won], now), lossOf(0n), now), -150n)
})

t.test('of a loss what was won is taken off, once, in the period of the stake', async (t) => {
  const won = { id: 'a', status: 'SETTLED', stakes: [stakeOf('a', 'TAKEN')], wins: [paid(250n)] } as const
  const book = settleCharges(
    bookOf('a', 'b'),
    [won, { ...won, id: 'b', status: 'OPEN', stakes: [stakeOf('b', 'TAKEN')], wins: [] }],
    now,
  )
  t.equal(usedOf(book, lossOf(0n), now), -50n)
  t.equal(usedOf(book, lossOf(0n, { kind: 'stake' }), now), 200n)
  t.equal(usedOf(book, lossOf(0n, { currency: 'EUR' }), now), 0n, 'another currency')
  t.same(
    settleCharges(
      book,
      [{ ...won, id: 'b', status: 'OPEN', stakes: [stakeOf('b', 'TAKEN')], wins: [] }],
      now,
    ),
    book,
  )
  const tomorrow = new Date(now.getTime() + dayMs)
  t.equal(usedOf(book, lossOf(0n), tomorrow), 0n)
  t.equal(usedOf(book, lossOf(0n, { period: 'week' }), tomorrow), -50n)
  const late = settleCharges(book, [{ ...won, id: 'b', wins: [] }], tomorrow)
  t.equal(usedOf(late, lossOf(0n), now), -150n, 'a round that ends after midnight counts on its day')
})

t.test(
  'each stake of a round counts on the day on which it was asked for, also once the round is over',
  async (t) => {
    const tomorrow = at('2026-11-26T00:00:01.000Z')
    const [first, second] = [stakeOf('a', 'TAKEN', 100n), stakeOf('b', 'TAKEN', 50n)]
    const charged = bookOf('a').charges.flatMap((charge) => [
      charge,
      { ...charge, transactionId: 'b', minor: 50n, at: tomorrow },
    ])
    const book = { charges: charged, sums: [] }
    const round = { id: 'a', stakes: [first, second], wins: [paid(30n)] }
    const used = (status: 'OPEN' | 'SETTLED', time: Date, limit = lossOf(1000n)) =>
      usedOf(settleCharges(book, [{ ...round, status }], tomorrow), limit, time)
    const ofStakes = lossOf(1000n, { kind: 'stake' })
    t.equal(used('OPEN', tomorrow), 50n)
    t.equal(used('SETTLED', tomorrow, ofStakes), 50n)
    t.equal(used('SETTLED', now, ofStakes), 100n)
    t.equal(used('SETTLED', tomorrow), 50n, 'what was won is taken off where the round began')
    t.equal(used('SETTLED', now), 70n)
  },
)

t.test('a stake may use up a limit and not go beyond it', async (t) => {
  const [limit, book] = [lossOf(300n), bookOf('a', 'b')]
  const stake = (minor: bigint, currency = 'USD') => exceededLimit([limit], book, { currency, minor }, now)
  t.equal(stake(100n), null)
  t.match(stake(101n), { limit, left: 100n })
  t.equal(stake(101n, 'EUR'), null)
  t.match(exceededLimit([lossOf(50n)], book, { currency: 'USD', minor: 1n }, now), { left: 0n })
})

t.test('time with several sessions open counts once', async (t) => {
  const session = (from: number, to: number | null, expires = 600) => ({
    createdAt: new Date(now.getTime() + from * minuteMs),
    expiresAt: new Date(now.getTime() + expires * minuteMs),
    closedAt: to === null ? null : new Date(now.getTime() + to * minuteMs),
  })
  const from = new Date(now.getTime() - 60 * minuteMs)
  const minutes = (...sessions: ReturnType<typeof session>[]) => playedMs(sessions, from, now) / minuteMs
  t.equal(minutes(), 0)
  t.equal(minutes(session(-30, -10)), 20)
  t.equal(minutes(session(-90, -50)), 10, 'from the beginning of the period')
  t.equal(minutes(session(-5, null)), 5, 'still open')
  t.equal(minutes(session(-40, null, -20)), 20, 'expired')
  t.equal(minutes(session(-20, null), session(-40, -10), session(-35, -30)), 40)
  t.equal(minutes(session(-120, -61)), 0)
})
