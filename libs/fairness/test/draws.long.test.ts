import t from 'tap'
import { drawDice } from '../src/games/dice.ts'

await t.test('a million dice draws with a fixed seed pass chi-square at p > 0.001', async (t) => {
  const draws = 1_000_000
  const counts = new Uint32Array(1000)
  for (let nonce = 1; nonce <= draws; nonce++) {
    const { index } = drawDice({ serverSeed: '5e'.repeat(32), clientSeed: 'chi-square', nonce })
    const bucket = Math.floor(index / 10)
    counts[bucket] = (counts[bucket] ?? 0) + 1
  }
  const expected = draws / counts.length
  const statistic = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
  // chi-square with 999 degrees of freedom: 1142.8 is exceeded with p = 0.001, 864.1 is undercut with p =
  // 0.001
  t.ok(statistic < 1142.8 && statistic > 864.1, `statistic ${statistic.toFixed(1)}`)
})
