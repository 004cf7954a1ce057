import { createCleanup, type Cleanup } from '../harness/cleanup.ts'
import type { Measured } from '../harness/measured.ts'
import type { PairPlan } from '../harness/run-pairs.ts'
import { measureMovements } from './measure-movements.ts'
import { measureNeighbours } from './measure-neighbours.ts'
import { measureRecovery } from './measure-recovery.ts'

/** Parts of the benchmark, each with engines of its own. */
export const settlementParts = ['movements', 'recovery', 'neighbours'] as const
export type SettlementPart = (typeof settlementParts)[number]

export type SettlementPlan = {
  parts: readonly SettlementPart[]
  /** Of the comparison with the floor. */
  pairs: PairPlan
  /** Movements that wait for the wallet. */
  pending: number
  /** Length of each stretch at a steady rate. */
  steadySeconds: number
  /** How often the cases with and without a neighbour take turns. */
  turns: number
}

/** Runs the chosen parts one after another, each on an empty pair of engines. */
export async function runSettlement(
  { parts, pairs, pending, steadySeconds, turns }: SettlementPlan,
  cleanup: Cleanup,
  say: (text: string) => void,
): Promise<{ result: object; text: string }> {
  const measures: Readonly<Record<SettlementPart, (own: Cleanup) => Promise<Measured>>> = {
    movements: (own) => measureMovements(pairs, own, say),
    recovery: (own) => measureRecovery(pending, own, say),
    neighbours: (own) => measureNeighbours({ seconds: steadySeconds, turns }, own, say),
  }
  const results: Partial<Record<SettlementPart, object>> = {}
  const texts: string[] = []
  for (const part of parts) {
    const own = createCleanup(cleanup)
    try {
      const { result, text } = await measures[part](own)
      results[part] = result
      texts.push(text)
    } finally {
      await own.run()
    }
  }
  return { result: { pending, ...results }, text: texts.join('\n\n') }
}
