import type { ComponentType } from 'preact'
import type { Round, Sitting } from '../api/records.ts'
import type { BetSlip } from './bet-slip.ts'
import type { Table } from './create-table.ts'
import type { TableState } from './table-state.ts'

export type PlayfieldProps = {
  readonly table: Table
  readonly state: TableState
  readonly sitting: Sitting
  readonly slip: BetSlip
}

/** The parts of a page at an open table. */
export type TableParts = PlayfieldProps & {
  readonly definition: GameDefinition
  /** Shows the proof of a round. */
  readonly onVerify: (round: Round) => void
}

/** The parts that a game brings to the common page. */
export type GameDefinition = {
  readonly slug: string
  readonly title: string
  readonly icon: string
  /** Board and bet controls. */
  readonly Playfield: ComponentType<PlayfieldProps>
  /** Time that the board takes to show a round's end. */
  revealMs(round: Round): number
  /** The bet in a few words: "Over 50.00". */
  betText(round: Round): string
}

type Fields = Readonly<Record<string, unknown>> | null

/** A field of a bet or outcome that is a text, else nothing. */
export function textOf(fields: Fields, name: string): string {
  const value = fields?.[name]
  return typeof value === 'string' ? value : ''
}

/** A field of a bet or outcome that is a number, else 0. */
export function numberOf(fields: Fields, name: string): number {
  const value = fields?.[name]
  return typeof value === 'number' ? value : 0
}
