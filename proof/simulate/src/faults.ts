import type { Random } from '@pitboss/chaos/random'

/** Faults of one run; decided by its seed. Probabilities from 0 to 1. */
/**
 * Of the database of rounds all of it, the uses of free bets alone or the books of limits alone; the
 * movements; `both`: rounds and movements, to a state of its own each.
 */
export type Restored = 'rounds' | 'grants' | 'limits' | 'movements' | 'both'

export type Faults = {
  /** True once the faults are over. */
  fair(): boolean
  clear(): void
  /** Probability of a fault of a process at each of its steps. */
  readonly crash: number
  /** Probability that a step's request or answer gets lost. */
  readonly ioLost: number
  readonly busLost: number
  /**
   * Probability that a busy callee turns a call away unbegun; and a stake, while others fill its wallet's
   * places.
   */
  readonly shed: number
  /** Probability that a process stands still just after it has called the wallet. */
  readonly standstill: number
  /**
   * Probability that a fault of the processes takes away all of a kind for longer than a stake's envelope.
   */
  readonly outage: number
  /**
   * Probability that trouble with the wallet is of the tempting kind: it takes and says nothing, and refuses
   * when it is asked again.
   */
  readonly treachery: number
  /** Probability of each kind of trouble with the wallet. */
  readonly wallet: number
  /** The most by which the clock of a machine is off, in ms. */
  readonly clockOffMs: number
  /**
   * Probability that a wait of the run sends a callback, or has a person resolve what the wallet has done.
   */
  readonly callbacks: number
  readonly people: number
  /** Probability that a wait of the run has a process read an old state of its database from then on. */
  readonly lag: number
  /**
   * Probability that an insert into a journal loses its answer, and each of its documents lands by itself: at
   * once, late or never.
   */
  readonly torn: number
  /** What is set back to an earlier state, once. */
  readonly restore: Restored | null
  ioMs(random: Random): number
}

const slowIoMs = 3000
/** Two clocks differ by as much as a lease of a wallet call is longer than the call. */
const clockOffMs = 1500

/** @param harsh overrules the seed */
export function createFaults(random: Random, { harsh: always }: { harsh: boolean }): Faults {
  let fair = false
  const level = random.pick([0, 0.3, 1, 1, 2])
  /** Wallet and processes fail together: a mistake that one fault alone hides shows with the other. */
  const harsh = random.chance(0.25) || always
  const slow = random.pick([0, 0.002, 0.01, 0.05])
  return {
    fair: () => fair,
    clear() {
      fair = true
    },
    crash: 0.002 * level,
    ioLost: 0.003 * random.pick([0, 1, 2]),
    standstill: harsh ? 0.25 : random.pick([0, 0.01, 0.05]),
    treachery: harsh ? 0.8 : 0,
    outage: random.pick([0, 0, 0.1]),
    shed: random.pick([0, 0.05, 0.4]),
    busLost: 0.01 * random.pick([0, 1, 3]),
    wallet: harsh ? 0.6 : random.pick([0.05, 0.15, 0.3, 0.5]),
    clockOffMs: random.pick([0, 0, clockOffMs]),
    callbacks: random.pick([0, 0.3]),
    people: random.pick([0, 0, 0.1]),
    lag: random.pick([0, 0.2]),
    restore: chooseRestored(random),
    torn: random.pick([0, 0.01, 0.05]),
    ioMs: (own) => (!fair && own.chance(slow) ? own.between(50, slowIoMs) : own.between(1, 3)),
  }
}

const restoredWith: readonly (readonly [Restored, number])[] = [
  ['rounds', 0.15],
  ['movements', 0.06],
  ['both', 0.06],
  ['grants', 0.04],
  ['limits', 0.04],
]

function chooseRestored(random: Random): Restored | null {
  return restoredWith.find(([, probability]) => random.chance(probability))?.[0] ?? null
}
