import type { BridgeProcess } from './bridge-process.ts'
import type { Machine } from './machine.ts'

/** The processes that run now, by name, and what outlives them. */
export type Fleet = {
  readonly machines: Map<string, Machine>
  readonly bridges: Map<string, BridgeProcess>
  /** Hands a process of rounds the hint that a movement of a round has ended. */
  readonly hints: Map<string, (roundId: string) => void>
  /** By how many ms the clock of a machine is ahead: clocks outlive processes. */
  readonly clocks: Map<string, number>
  /** Since when processes of wallet-bridge may start again after an outage. */
  bridgesBackAtMs: number
  /** Processes that stay away: their tables are being set back. */
  away: ReadonlySet<string>
}

export function createFleet(): Fleet {
  return {
    machines: new Map(),
    bridges: new Map(),
    hints: new Map(),
    clocks: new Map(),
    bridgesBackAtMs: 0,
    away: new Set(),
  }
}
