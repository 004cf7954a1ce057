import t from 'tap'
import { watchInstallation } from '../src/returns/watch-installation.ts'

t.test('of many fair installations hardly one raises an alarm', async (t) => {
  let alarmed = 0
  for (let seed = 1; seed <= 100; seed++) if (watchInstallation(20_000, seed).alarms > 0) alarmed += 1
  t.ok(alarmed <= 4, `${alarmed} of 100; the error budget is 1 in 100`)
})

t.test(
  'an error of three points is noticed in both directions, and so is a draw that is pushed',
  async (t) => {
    for (const points of [-3, 3]) t.not(watchInstallation(400_000, 1, { points, pushed: 0 }).firstAt, null)
    t.not(watchInstallation(200_000, 1, { points: 0, pushed: 0.02 }).firstAt, null)
  },
)
