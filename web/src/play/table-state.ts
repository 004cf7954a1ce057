import type { Round, Sitting } from '../api/records.ts'

export type LockReason = 'no-token' | 'token-ended' | 'other-game'
type Notice = { readonly tone: 'info' | 'problem'; readonly text: string }

/** Text of what the player waits for when an answer takes longer than a moment. */
export type Waiting = 'confirming' | 'paying' | 'reconnecting'

type Activity = 'idle' | 'placing' | 'revealing' | 'cashing-out' | 'showing'

export type TableState = {
  readonly phase: 'loading' | 'failed' | 'locked' | 'open'
  readonly locked: LockReason | null
  readonly sitting: Sitting | null
  /** The time at which `sitting` was read; milliseconds, as of `Date.now`. */
  readonly seatedAtMs: number
  /** The session takes no new round; an open one can be finished. */
  readonly ended: 'EXPIRED' | 'CLOSED' | null
  /** The player goes on or stops before the next round. */
  readonly checking: boolean
  /** The time before which the service takes no new round; null when it takes one. */
  readonly heldUntilMs: number | null
  /** The round under way, or the last one. */
  readonly round: Round | null
  readonly activity: Activity
  /** The tile that is being opened. */
  readonly tile: number | null
  readonly waiting: Waiting | null
  readonly notice: Notice | null
  /** Newest first, ended rounds only. */
  readonly history: readonly Round[]
  readonly historyCursor: string | null
  /** The commitment that this page showed for a nonce before the bet was placed. */
  readonly shownHashes: ReadonlyMap<number, string>
}

export const emptyTable: TableState = {
  phase: 'loading',
  locked: null,
  sitting: null,
  seatedAtMs: 0,
  ended: null,
  checking: false,
  heldUntilMs: null,
  round: null,
  activity: 'idle',
  tile: null,
  waiting: null,
  notice: null,
  history: [],
  historyCursor: null,
  shownHashes: new Map(),
}

/** True once nothing about the round can change any more. */
export function isOver({ status }: Round): boolean {
  return status === 'SETTLED' || status === 'VOIDED' || status === 'FAILED'
}

/** A new bet can be placed now. */
export function takesBets(state: TableState): boolean {
  const { sitting, round } = state
  const free = round === null || isOver(round)
  const offered = sitting !== null && sitting.game.enabled && sitting.game.status === 'AVAILABLE'
  return (
    state.phase === 'open' &&
    state.ended === null &&
    !state.checking &&
    state.heldUntilMs === null &&
    offered &&
    free &&
    state.activity === 'idle' &&
    state.waiting === null
  )
}

/** The open round can be acted upon now. */
export function takesActions({ round, activity, waiting }: TableState): boolean {
  return round?.status === 'OPEN' && activity === 'idle' && waiting === null
}
