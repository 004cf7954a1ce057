import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { openTestDatabase } from '@pitboss/testing/open-test-database'
import t from 'tap'
import { createReportPlayers, reportPlayerIndexes } from '../../src/wings/reports/storage/report-players.ts'

const scope = '6f1f9d0e-5a0b-4c57-9a52-3d1c1f0f8a41/SANDBOX'
const place = { game: 'dice', currency: 'USD', brand: '' }
const all = new Set<never>()

t.test('a report names a bounded number of players, and says so beyond', async (t) => {
  const db = await openTestDatabase(t)
  await ensureIndexes(db, reportPlayerIndexes)
  const days = db.collection<{ _id: string }>('report_players')
  const months = db.collection<{ _id: string }>('report_player_months')
  const play = async (playerId: string) => {
    const one = { _id: playerId, scope, ...place, playerId }
    const day = { ...one, grain: 'day', unit: '2026-11-20', grouping: 'all', by: 'fact' }
    await days.insertOne(day)
    await months.insertOne({ ...one, ...{ months: ['2026-11'] } })
  }
  const players = createReportPlayers({ db, playersMax: 2 })
  const inDays = { scope, grain: 'day', unit: { $gte: '2026-11-20', $lt: '2026-11-21' } } as const
  const inMonths = { scope, grain: 'month', unit: { $gte: '2026-11', $lt: '2026-12' } } as const
  for (const player of ['a', 'b']) await play(player)
  for (const window of [inDays, inMonths]) {
    const named = (await players.distinct(window, all)).map(({ playerId }) => playerId)
    t.strictSame(named.toSorted(), ['a', 'b'])
  }
  await play('c')
  const refusal = { code: 'SERVICE_UNAVAILABLE', retryable: true, message: /shorter window, or group by day/ }
  for (const window of [inDays, inMonths]) await t.rejects(players.distinct(window, all), refusal)
})
