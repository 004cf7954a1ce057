import { MINES_TILES } from '@pitboss/fairness/draw-mines'
import type { Round } from '../api/records.ts'

export type TileFace = 'closed' | 'opening' | 'gem' | 'mine' | 'hit' | 'spare-gem'

/** Number of mines of a round's bet. */
export function minesOf({ bet }: Round): number {
  return typeof bet?.mines === 'number' ? bet.mines : 0
}

/** The face of each of the 25 tiles. */
export function facesOf(round: Round | null, opening: number | null): TileFace[] {
  const faces = Array.from({ length: MINES_TILES }, (): TileFace => 'closed')
  if (round === null) return faces
  const bombs = tilesOf(round.outcome?.bomb_positions)
  const opened =
    round.outcome === null ? (round.progress?.tiles_opened ?? []) : tilesOf(round.outcome.tiles_opened)
  return faces.map((_, tile) => {
    if (bombs.includes(tile)) return opened.includes(tile) ? 'hit' : 'mine'
    if (opened.includes(tile)) return 'gem'
    if (round.outcome !== null) return 'spare-gem'
    return tile === opening ? 'opening' : 'closed'
  })
}

/** Chance that the next tile is safe, as a percentage. */
export function safeChanceText(mines: number, opened: number): string {
  const left = MINES_TILES - opened
  return `${(((left - mines) / left) * 100).toFixed(2)} %`
}

function tilesOf(value: unknown): number[] {
  return Array.isArray(value) ? value.filter((tile) => typeof tile === 'number') : []
}
