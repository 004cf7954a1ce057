import { createDrawSource, type DrawStep, type Seeds } from './fair-v1.ts'

/** Equally likely rolls, "00.00" to "99.99". */
export const DICE_ROLLS = 10_000

/**
 * The dice roll of these seeds: `index` 0 to 9999, `roll` as shown ("07.05"). Source: docs/contract.md,
 * section 4.
 */
export function drawDice(seeds: Seeds): { index: number; roll: string; steps: readonly DrawStep[] } {
  const source = createDrawSource(seeds)
  const index = source.draw(DICE_ROLLS)
  const text = index.toString().padStart(4, '0')
  return { index, roll: `${text.slice(0, 2)}.${text.slice(2)}`, steps: source.steps }
}
