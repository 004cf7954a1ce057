import { catalogueWith } from '@pitboss/bugs/draw-bugs'
import { createCatalogue } from '@pitboss/rounds/rules/catalogue'
import t from 'tap'
import { countAlarms } from '../src/returns/count-alarms.ts'
import { isSameInstallation } from '../src/returns/is-same-installation.ts'
import { watchInstallation } from '../src/returns/watch-installation.ts'
import { watchDice } from '../src/returns/watch-wrong-draw.ts'

t.test('of many fair installations hardly one raises an alarm', async (t) => {
  let alarmed = 0
  for (let seed = 1; seed <= 100; seed++) if (watchInstallation(10_000, seed).alarms > 0) alarmed += 1
  t.ok(alarmed <= 4, `${alarmed} of 100; the error budget is 1 in 100`)
})

t.test(
  'an error of three points is noticed in both directions, and so is a draw that is pushed',
  async (t) => {
    for (const points of [-3, 3]) t.not(watchInstallation(200_000, 1, { points, pushed: 0 }).firstAt, null)
    t.not(watchInstallation(60_000, 1, { points: 0, pushed: 0.02 }).firstAt, null)
  },
)

t.test('a restart in the middle changes no count, no score and no verdict', async (t) => {
  for (const points of [0, 5]) {
    const whole = watchInstallation(60_000, 3, { points, pushed: 0 })
    const restarted = watchInstallation(60_000, 3, { points, pushed: 0 }, 25_001)
    t.strictSame(restarted, whole, `${points} points: ${whole.alarms} alarms`)
  }
})

t.test('the quick count of an installation is that of the service to the last digit', async (t) => {
  const wrong = { points: 5, pushed: 0.001 }
  const watched = watchInstallation(60_000, 5, wrong)
  t.ok(watched.alarms > 0)
  t.ok(isSameInstallation(watched, countAlarms(60_000, 5, wrong)))
  t.ok(isSameInstallation(watchInstallation(60_000, 6), countAlarms(60_000, 6)))
  t.notOk(isSameInstallation(watched, countAlarms(59_999, 5, wrong)), 'a round less is another count')
  t.equal(countAlarms(60_000, 5, wrong, true).firstAt, watched.firstAt, 'one that ends with the alarm')
})

t.test('dice that are drawn as a remainder are found, and fair ones are not', async (t) => {
  const fair = createCatalogue()
  const wrong = catalogueWith(fair, (bug) => bug === 'rounds.draw-by-remainder')
  const rounds = 10_000
  t.strictSame(watchDice(fair, rounds), { 'chance 99/200': null, draws: null })
  const noticed = watchDice(wrong, rounds)['chance 99/200'] ?? null
  t.ok(noticed !== null, `after ${noticed} rounds`)
})
