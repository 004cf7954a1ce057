import { findViolation } from '@pitboss/simulate/find-violation'
import t from 'tap'
import { type Bug, foundBySimulation } from '../src/bugs.ts'

/** Each of these bugs shows within so many seeds, most of them within ten. */
const seedsMax = 500
/** A busy machine runs it many times slower than a free one, on which each takes a few seconds at most. */
const testTimeoutMs = 300_000
t.setTimeout(2 * testTimeoutMs)
/**
 * Seeds that showed these bugs on 26 November 2026, to begin with: a simulation that has changed since shows
 * them at another, and the search goes round all of them.
 */
const beginsAt: Partial<Record<Bug, number>> = {
  'rounds.silence-is-unwritten': 258,
  'rounds.limit-charge-lost': 23,
  'rounds.refusal-forgotten': 15,
  'rounds.win-id-made-anew': 55,
  'rounds.free-bet-kept': 26,
  'wallet-bridge.look-before-insert': 52,
  'wallet-bridge.rollback-of-unknown-forgotten': 431,
  'wallet-bridge.refusal-always-final': 14,
}

for (const bug of foundBySimulation) {
  await t.test(`the simulation finds ${bug}`, { timeout: testTimeoutMs }, async (t) => {
    const found = await findViolation({ mistake: { bug }, beginsAt: beginsAt[bug], seedsMax })
    t.ok(found !== null, 'found')
    t.comment(`seed ${found?.seed}: ${found?.violation}`)
  })
}
