import { findViolation } from '@pitboss/simulate/find-violation'
import t from 'tap'
import { type Bug, foundBySimulation } from '../src/bugs.ts'

/** Each of these bugs shows within so many seeds, most of them within ten. */
const seedsMax = 3000
/**
 * Seeds that showed these bugs on 30 November 2026 or before, to begin with. A simulation that has changed
 * since shows them at another, which the test prints, and the search goes round all of them: minutes instead
 * of a second.
 */
const beginsAt: Partial<Record<Bug, number>> = {
  'rounds.silence-is-unwritten': 820,
  'rounds.due-by-a-clock-ahead': 67,
  'rounds.limit-charge-lost': 224,
  'rounds.refusal-forgotten': 72,
  'rounds.win-id-made-anew': 70,
  'rounds.free-bet-kept': 560,
  'rounds.free-bet-after-its-time': 5,
  'rounds.free-bet-not-counted': 3,
  'rounds.nonce-of-removed-lost': 5,
  'rounds.recovery-given-up': 3,
  'rounds.pace-looked-at-first': 1472,
  'rounds.pending-stake-counts': 10,
  'rounds.added-id-unclaimed': 158,
  'wallet-bridge.look-before-insert': 79,
  'wallet-bridge.rollback-of-unknown-forgotten': 2041,
  'wallet-bridge.refusal-always-final': 16,
  'wallet-bridge.pulled-forward-counts': 221,
  'wallet-bridge.server-error-is-refusal': 4,
  'wallet-bridge.credit-given-up': 4,
  'wallet-bridge.two-resolvers': 359,
  'wallet-bridge.rollback-against-events': 1067,
  'rounds.win-under-new-id': 3,
  'rounds.adjustment-on-the-day-of-the-round': 36,
  'rounds.stop-answered-first': 155,
  'wallet-bridge.duplicate-is-refusal': 4,
  'wallet-bridge.rollback-of-played-stake': 310,
  'wallet-bridge.backlog-not-pulled': 309,
}

for (const bug of foundBySimulation) {
  await t.test(`the simulation finds ${bug}`, async (t) => {
    const found = await findViolation({ mistake: { bug }, beginsAt: beginsAt[bug], seedsMax })
    t.ok(found !== null, 'found')
    t.comment(`seed ${found?.seed}: ${found?.violation}`)
  })
}
