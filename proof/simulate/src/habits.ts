import type { Random } from '@pitboss/chaos/random'
import { type IdStyle, idStyles } from './client-ids.ts'

/**
 * Habits of the clients of one run, and their players' money; decided by its seed. Probabilities from 0 to 1.
 */
export type Habits = {
  /**
   * The tabs of each player, and workers of each operator's player: one or two that know nothing of each
   * other.
   */
  readonly tabs: readonly string[]
  /** Time that a client waits for an answer. */
  readonly patienceMs: number
  /** Probability that an unanswered stake is rolled back. */
  readonly impatience: number
  /** Probability that a request is sent several times at once. */
  readonly doubled: number
  /** Probability that a stake is a free bet. */
  readonly freeBets: number
  readonly startingBalance: string
  readonly idStyle: IdStyle
  /**
   * 1 is a run on life's own delays; a greater one lets a run meet more steps of the retry schedule and
   * abandoned rounds.
   */
  readonly timeScale: number
}

/** Wait that is longer than any call's budget, so that every answer is heard. */
const foreverMs = 20_000

export function createHabits(random: Random): Habits {
  return {
    tabs: random.pick([['a'], ['a', 'b']]),
    patienceMs: random.pick([foreverMs, foreverMs, 5000, 2500]),
    impatience: random.pick([0, 0.5]),
    doubled: random.pick([0, 0.1, 0.3]),
    freeBets: random.pick([0, 0.4]),
    startingBalance: random.pick(['30.00', '30.00', '7.00']),
    idStyle: random.fork('ids').pick(idStyles),
    timeScale: random.pick([1, 120]),
  }
}
