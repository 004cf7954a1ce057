import { createDrawSource, type DrawStep, type Seeds } from './fair-v1.ts'

/** Equally likely angles, tenths of a degree from "000.0" to "359.9". */
export const ANGLES = 3600

/**
 * The bottle's stop: `index` in tenths of a degree, `angle` as shown ("070.5"). Source: docs/contract.md,
 * section 4.
 */
export function drawAngle(seeds: Seeds): { index: number; angle: string; steps: readonly DrawStep[] } {
  const source = createDrawSource(seeds)
  const index = source.draw(ANGLES)
  const text = index.toString().padStart(4, '0')
  return { index, angle: `${text.slice(0, 3)}.${text.slice(3)}`, steps: source.steps }
}
