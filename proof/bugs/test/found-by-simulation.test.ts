import { simulate } from '@pitboss/simulate/simulate'
import t from 'tap'
import { foundBySimulation } from '../src/bugs.ts'

/** Each of these bugs shows within so many seeds, most of them within ten. */
const seedsMax = 300
/** A busy machine runs it many times slower than a free one, on which each takes a few seconds at most. */
const testTimeoutMs = 300_000
t.setTimeout(2 * testTimeoutMs)

for (const bug of foundBySimulation) {
  await t.test(`the simulation finds ${bug}`, { timeout: testTimeoutMs }, async (t) => {
    let found: string | null = null
    let seed = 0
    while (found === null && seed < seedsMax) {
      seed += 1
      found = (await simulate(seed, { mistake: { bug } })).violation
      // What the product itself does wrong is no proof that the bug is noticed.
      if (found !== null && (await simulate(seed)).violation !== null) found = null
    }
    t.ok(found !== null, 'found')
    t.comment(`seed ${seed}: ${found}`)
  })
}
