/** @jsxImportSource preact */
import { MINES_TILES } from '@pitboss/fairness/games/mines'
import { useRef, useState } from 'preact/hooks'
import type { Round } from '../api/records.ts'
import { type TableState, takesActions } from '../play/table-state.ts'

const columns = 5
const faceNames: Readonly<Record<TileFace, string>> = {
  closed: 'closed',
  opening: 'opening',
  gem: 'safe, opened',
  mine: 'mine',
  hit: 'mine, opened',
  'spare-gem': 'safe, not opened',
}
const moves: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  ArrowUp: -columns,
  ArrowDown: columns,
}

/** 25 tiles. One tab stop; the arrow keys move, Enter and Space open. */
export function MinesBoard({ state, onOpen }: { state: TableState; onOpen: (tile: number) => void }) {
  const board = useRef<HTMLDivElement>(null)
  const [current, setCurrent] = useState(12)
  const faces = facesOf(state.round, state.activity === 'revealing' ? state.tile : null)
  const canOpen = takesActions(state)

  const onKeyDown = (event: KeyboardEvent) => {
    const tile = nextTile(current, event.key)
    if (tile === null) return
    event.preventDefault()
    setCurrent(tile)
    const button = board.current?.children[tile]
    if (button instanceof HTMLElement) button.focus()
  }

  return (
    <div
      class="board"
      ref={board}
      role="group"
      aria-label="Board of 25 tiles"
      data-open={state.round?.status === 'OPEN' ? 'yes' : 'no'}
      onKeyDown={onKeyDown}
    >
      {faces.map((face, tile) => (
        <button
          key={tile}
          type="button"
          class="tile"
          data-face={face}
          data-tile={tile}
          tabIndex={tile === current ? 0 : -1}
          aria-disabled={!canOpen || face !== 'closed'}
          aria-label={`Row ${Math.floor(tile / columns) + 1}, column ${(tile % columns) + 1}: ${faceNames[face]}`}
          onFocus={() => setCurrent(tile)}
          onClick={() => {
            if (canOpen && face === 'closed') onOpen(tile)
          }}
        >
          {face === 'gem' || face === 'spare-gem' ? <Gem /> : null}
          {face === 'mine' || face === 'hit' ? <Mine /> : null}
        </button>
      ))}
    </div>
  )
}

function nextTile(tile: number, key: string): number | null {
  if (key === 'Home') return 0
  if (key === 'End') return columns * columns - 1
  const move = moves[key]
  if (move === undefined) return null
  const next = tile + move
  const leavesRow = Math.abs(move) === 1 && Math.floor(next / columns) !== Math.floor(tile / columns)
  return next < 0 || next >= columns * columns || leavesRow ? tile : next
}

function Gem() {
  return (
    <svg viewBox="0 0 48 48" aria-hidden="true">
      <path class="gem-body" d="M15 9h18l9 12-18 20L6 21z" />
      <path class="gem-crown" d="M15 9h18l9 12H6z" />
      <path class="gem-shine" d="M15 9 6 21h11zM24 9l-7 12h14z" />
    </svg>
  )
}

function Mine() {
  return (
    <svg viewBox="0 0 48 48" aria-hidden="true">
      <path
        class="mine-spikes"
        d="M24 5v38M5 24h38M10.600 10.600l26.800 26.800M37.400 10.600 10.600 37.400"
        stroke-width="4"
        stroke-linecap="round"
      />
      <circle class="mine-body" cx="24" cy="24" r="13" />
      <circle class="mine-shine" cx="19.500" cy="19" r="3.500" />
    </svg>
  )
}

type TileFace = 'closed' | 'opening' | 'gem' | 'mine' | 'hit' | 'spare-gem'

/** Number of mines of a round's bet. */
export function minesOf({ bet }: Round): number {
  return typeof bet?.mines === 'number' ? bet.mines : 0
}

/** The face of each of the 25 tiles. */
function facesOf(round: Round | null, opening: number | null): TileFace[] {
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
