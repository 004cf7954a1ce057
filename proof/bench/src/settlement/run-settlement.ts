import type { Cleanup } from '../harness/cleanup.ts'
import type { Measured } from '../harness/measured.ts'
import type { PairPlan } from '../harness/run-pairs.ts'
import { runParts } from '../harness/run-parts.ts'
import { measureMovements } from './measure-movements.ts'
import { measureNeighbours } from './measure-neighbours.ts'
import { measureRecovery } from './measure-recovery.ts'

/** Parts of the benchmark, each with engines of its own. */
export const settlementParts = ['movements', 'recovery', 'neighbours'] as const
type SettlementPart = (typeof settlementParts)[number]

export type SettlementPlan = {
  parts: readonly SettlementPart[]
  /** Turns of the comparison with the floor. */
  pairs: PairPlan
  /** Movements that wait for the wallet. */
  pending: number
  /** Length of each stretch at a steady rate. */
  steadySeconds: number
  /** Number of turns of the cases with and without a neighbour. */
  turns: number
}

/** Measures the chosen parts. */
export async function runSettlement(
  { parts, pairs, pending, steadySeconds, turns }: SettlementPlan,
  cleanup: Cleanup,
  say: (text: string) => void,
): Promise<Measured> {
  const measures = {
    movements: (own: Cleanup) => measureMovements(pairs, own, say),
    recovery: (own: Cleanup) => measureRecovery(pending, own, say),
    neighbours: (own: Cleanup) => measureNeighbours({ seconds: steadySeconds, turns }, own, say),
  }
  const { results, text } = await runParts(parts, measures, cleanup)
  return { result: { pending, ...results }, text }
}
