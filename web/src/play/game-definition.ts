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

/** What a game brings to the common page. */
export type GameDefinition = {
  readonly slug: string
  readonly title: string
  readonly icon: string
  /** Board and bet controls. */
  readonly Playfield: ComponentType<PlayfieldProps>
  /** How long the board takes to show how a round ended. */
  revealMs(round: Round): number
  /** What came out, in a few words: "Rolled 73.12". */
  outcomeText(round: Round): string
  /** What was bet, in a few words: "Over 50.00". */
  betText(round: Round): string
}
