import { createDrawSource, type DrawStep, type Seeds } from './fair-v1.ts'

/** Tiles of the board, numbered 0 to 24 row by row. */
export const MINES_TILES = 25

/**
 * Bomb positions in draw order: each draw removes one tile from the pool of those left. Source:
 * docs/contract.md, section 4.
 * @param mines 1 to 24, else RangeError
 */
export function drawMines(seeds: Seeds, mines: number): { bombs: number[]; steps: readonly DrawStep[] } {
  if (!Number.isInteger(mines) || mines < 1 || mines >= MINES_TILES) {
    throw new RangeError('mines must be 1 to 24')
  }
  const source = createDrawSource(seeds)
  const pool = Array.from({ length: MINES_TILES }, (_, tile) => tile)
  const bombs: number[] = []
  while (bombs.length < mines) bombs.push(...pool.splice(source.draw(pool.length), 1))
  return { bombs, steps: source.steps }
}
