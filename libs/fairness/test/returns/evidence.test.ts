import t from 'tap'
import { addOutcome, alarmAt, chanceBand, noEvidence, noticedWithin } from '../../src/returns/evidence.ts'

const add = (outcomes: readonly number[], chances: readonly number[]) =>
  outcomes.reduce(
    (evidence, outcome) => addOutcome(evidence, outcome, chances[outcome] ?? 0),
    noEvidence(chances.length),
  )

/** All sequences of `length` outcomes, with the probability of each. */
function sequences(length: number, chances: readonly number[]): { outcomes: number[]; chance: number }[] {
  if (length === 0) return [{ outcomes: [], chance: 1 }]
  return sequences(length - 1, chances).flatMap(({ outcomes, chance }) =>
    chances.map((own, outcome) => ({ outcomes: [...outcomes, outcome], chance: chance * own })),
  )
}

t.test('while the chances are right the score is 1 on average after any number of trials', async (t) => {
  for (const chances of [
    [0.5, 0.5],
    [0.02, 0.98],
    [0.2, 0.3, 0.5],
  ]) {
    for (const length of [1, 4, 8]) {
      const mean = sequences(length, chances).reduce(
        (sum, { outcomes, chance }) => sum + chance * Math.exp(add(outcomes, chances).log),
        0,
      )
      t.ok(Math.abs(mean - 1) < 1e-9, `${chances.join(', ')}: ${mean} after ${length}`)
    }
  }
})

t.test('the score knows no order, so that streams can be counted apart and put together', async (t) => {
  const [a, b] = [add([0, 0, 1, 0], [0.3, 0.7]), add([1, 0, 0, 0], [0.3, 0.7])]
  t.same(a.counts, b.counts)
  t.ok(Math.abs(a.log - b.log) < 1e-12)
})

t.test('the shares of an error budget never add up to more than all of it', async (t) => {
  const budget = 0.01
  let sum = 0
  for (let position = 1; position <= 10_000; position++) sum += Math.exp(-alarmAt(position, budget))
  t.ok(sum < budget && sum > 0.999 * budget)
})

t.test('a band holds exactly the chances that would not be an alarm', async (t) => {
  const outcomes = Array.from({ length: 400 }, (_, at) => (at % 4 === 0 ? 0 : 1))
  const evidence = add(outcomes, [0.3, 0.7])
  const threshold = alarmAt(1, 0.01)
  const { low, high } = chanceBand(evidence, 0.3, threshold)
  t.ok(low < 0.25 && 0.25 < high)
  for (const [chance, isAlarm] of [
    [low - 1e-6, true],
    [low + 1e-6, false],
    [high - 1e-6, false],
    [high + 1e-6, true],
  ] as const)
    t.equal(add(outcomes, [chance, 1 - chance]).log >= threshold, isAlarm, `${chance}`)
  t.same(
    chanceBand(noEvidence(2), 0.3, threshold),
    { low: 0, high: 1 },
    'nothing is ruled out before the first trial',
  )
})

t.test('an error of one point of an even bet is noticed within some hundred thousand trials', async (t) => {
  const within = noticedWithin(0.495, 0.5, alarmAt(1, 0.01))
  t.ok(within > 200_000 && within < 300_000, `${within}`)
  t.equal(noticedWithin(0.495, 0.495, 5), Infinity)
})
