import type { Random } from '@pitboss/chaos/random'

/** How bad things are in one run; decided by its seed. Probabilities from 0 to 1. */
export type Weather = {
  /** True once the faults are over. */
  fair(): boolean
  clear(): void
  /** Of a process at each of its steps. */
  readonly crash: number
  /** Of a step's request or answer to get lost. */
  readonly ioLost: number
  readonly busLost: number
  /**
   * Of a call to be turned away unbegun by a callee that has too much to do; and of a stake, while others
   * fill its wallet's places.
   */
  readonly shed: number
  /** Of a process to stand still just after it has called the wallet. */
  readonly standstill: number
  /** Of a fault of the processes to be that all of a kind are away for longer than a stake's envelope. */
  readonly outage: number
  /**
   * Of trouble with the wallet to be of the kind that tempts: it takes and says nothing, and refuses when it
   * is asked again.
   */
  readonly treachery: number
  /** Of each kind of trouble with the wallet. */
  readonly wallet: number
  ioMs(random: Random): number
}

const slowIoMs = 3000

/** @param harsh whatever the seed says of it */
export function createWeather(random: Random, { harsh: always }: { harsh: boolean }): Weather {
  let fair = false
  const level = random.pick([0, 0.3, 1, 1, 2])
  /** Wallet and processes fail together: what one alone hides, the other shows. */
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
    shed: random.pick([0, 0, 0.05]),
    busLost: 0.01 * random.pick([0, 1, 3]),
    wallet: harsh ? 0.6 : random.pick([0.05, 0.15, 0.3, 0.5]),
    ioMs: (own) => (!fair && own.chance(slow) ? own.between(50, slowIoMs) : own.between(1, 3)),
  }
}
