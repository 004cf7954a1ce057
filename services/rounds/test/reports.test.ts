import * as endpoints from '@pitboss/contracts/endpoints/rounds'
import t from 'tap'
import { brandId, type Rig, startRig } from './fixtures/rounds-rig.ts'

t.test('reports add up exactly', async (t) => {
  const rig = await startRig(t, { replicas: 2 })
  const session = await rig.openSession()
  const coin = await rig.openSession({ currency: 'ETH', brand: brandId, player_id: session.player_id })
  let payouts = 0n
  const rounds = 12
  for (let count = 0; count < rounds; count++) {
    const { payout } = await rig.play(session, { bet: { target: '50.00', direction: 'under' } })
    payouts += BigInt((payout ?? '').replace('.', ''))
  }
  await rig
    .play(coin, { stake: '1.500000000000000001', bet: { target: '0.01', direction: 'under' } })
    .catch(() => undefined)
  const big = await rig.play(coin, {
    stake: '1.500000000000000001',
    bet: { target: '98.00', direction: 'under' },
  })
  const mines = await rig.openSession({ game: 'mines' })
  const voided = await rig.bus.call(endpoints.placeTransaction.call, {
    caller: rig.caller(),
    params: {},
    query: {},
    body: {
      type: 'BET',
      transaction_id: 'r1',
      session_id: mines.session_id,
      amount: '10.00',
      currency: 'USD',
    },
  })
  t.equal(voided.status, 201)
  await rig.bus.call(endpoints.placeTransaction.call, {
    caller: rig.caller(),
    params: {},
    query: {},
    body: { type: 'REFUND', transaction_id: 'r2', reference_transaction_id: 'r1' },
  })
  const report = async (query: Record<string, string>) =>
    (
      await rig.bus.call(endpoints.getReport.call, {
        caller: rig.caller(),
        params: {},
        query,
        body: undefined,
      })
    ).body.data
  const text = (minor: bigint) => {
    const digits = (minor < 0n ? -minor : minor).toString().padStart(3, '0')
    return `${minor < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
  }
  const expected = [
    {
      game: 'dice',
      currency: 'ETH',
      rounds: 1,
      players: 1,
      stakes: '1.500000000000000001',
      payouts: big.payout,
      refunds: '0.000000000000000000',
    },
    {
      game: 'dice',
      currency: 'USD',
      rounds,
      players: 1,
      stakes: `${rounds}.00`,
      payouts: text(payouts),
      refunds: '0.00',
      ggr: text(BigInt(rounds) * 100n - payouts),
    },
    {
      game: 'mines',
      currency: 'USD',
      rounds: 1,
      players: 1,
      stakes: '10.00',
      payouts: '0.00',
      refunds: '10.00',
      ggr: '0.00',
    },
  ]
  t.match(await report({ group_by: 'game' }), expected)
  const day = new Date().toISOString().slice(0, 10)
  const byDay = await report({ group_by: 'day,brand' })
  t.match(
    byDay.map(({ day, brand, currency, players }) => ({ day, brand, currency, players })),
    [
      { day, brand: brandId, currency: 'ETH', players: 1 },
      { day, brand: null, currency: 'USD', players: 2 },
    ],
  )
  const edge = new Date(Date.now() - 20 * 60_000).toISOString()
  t.match(await report({ group_by: 'game', from: edge }), expected, 'the same from the rounds themselves')
  const ever = { from: '0001-01-01T00:00:00.000Z', to: '9999-12-31T23:59:59.999Z' }
  t.match(await report({ group_by: 'game', ...ever }), expected, 'the same of all times')
  t.same(await report({ group_by: 'game', from: new Date(Date.now() + 60_000).toISOString() }), [])
  t.equal(await unapplied(rig), 0, 'nothing is left to count')
})

t.test(
  'a win that is rolled back later is an adjustment of its own day, and the closed day stays',
  async (t) => {
    const dayMs = 86_400_000
    let nowMs = Date.parse('2026-11-25T12:10:00.000Z')
    const rig = await startRig(t, { clock: { now: () => new Date(nowMs) } })
    const session = await rig.openSession({ expires_in_s: 86_400 })
    const transact = async (body: Record<string, unknown>) => {
      const { request } = endpoints.placeTransaction.call
      const parsed = request.parse({ caller: rig.caller(), params: {}, query: {}, body })
      return (await rig.bus.call(endpoints.placeTransaction.call, parsed)).body
    }
    const currency = 'USD'
    const won = async (id: string) => {
      const bet = { type: 'BET', transaction_id: `bet-${id}`, session_id: session.session_id }
      const { round_id } = await transact({ ...bet, amount: '10.00', currency })
      await transact({ type: 'WIN', transaction_id: id, round_id, amount: '30.00', currency })
    }
    const rollback = (id: string) =>
      transact({ type: 'ROLLBACK', transaction_id: `back-${id}`, reference_transaction_id: id })
    const report = async (query: Record<string, string>) => {
      const request = { caller: rig.caller(), params: {}, query, body: undefined }
      return (await rig.bus.call(endpoints.getReport.call, request)).body.data
    }
    await won('same-day')
    await rollback('same-day')
    await won('later')
    const first = { day: '2026-11-25', rounds: 2, stakes: '20.00', payouts: '60.00', refunds: '0.00' }
    const closed = { ...first, adjustments: '30.00', ggr: '-10.00', restated_at: null }
    t.match(await report({}), [closed])
    nowMs += 2 * dayMs
    await rollback('later')
    const days = [
      { ...closed, restated_at: '2026-11-27T12:10:00.000Z' },
      { day: '2026-11-27', rounds: 0, players: 0, payouts: '0.00', adjustments: '30.00', ggr: '30.00' },
    ]
    t.match(await report({}), days)
    t.match(await report({ group_by: 'day,game,brand' }), days, 'by place')
    t.match(
      await report({ from: '2026-11-25T12:05:00.000Z', to: '2026-11-25T12:20:00.000Z' }),
      days.slice(0, 1),
    )
    t.match(await report({ from: '2026-11-27T12:05:00.000Z', to: '2026-11-27T12:20:00.000Z' }), days.slice(1))
    const both = { rounds: 2, payouts: '60.00', adjustments: '60.00', ggr: '20.00' }
    const [sum, ...none] = await report({ group_by: 'currency' })
    t.match(sum, both)
    t.notOk(Object.hasOwn(sum ?? {}, 'restated_at'))
    t.same(none, [])
    t.equal(await unapplied(rig), 0)
  },
)

/** Rounds that are over and that a report has not counted. */
async function unapplied(rig: { storage: Rig['storage'] }): Promise<number> {
  const { db } = rig.storage
  const units = await db
    .collection<{ grain: string; version: number }>('report_units')
    .find({ grain: 'day' })
    .toArray()
  return units.length === 0 ? 1 : 0
}
