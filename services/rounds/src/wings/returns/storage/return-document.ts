import type { Sum } from '@pitboss/storage/journal/fold'
import type { WithAudit } from '@pitboss/storage/audit-outbox'
import {
  type KeptStream,
  type StoredStream,
  type StreamPlace,
  type StreamStep,
  streamKey,
} from '../rules/watched-streams.ts'

/**
 * A stream of the watch, which counts each entry once. Its `position` is its number among the streams of its
 * order, from 1 on: an index makes it unique.
 */
export type StreamDocument = StoredStream &
  StreamPlace &
  Sum & {
    /** How often it began: once, and once more whenever an alarm was lifted. */
    generation: number
    /** When the alarm was stored; null once it was acted on. */
    alarmDueAt: Date | null
    startedAt: Date
    updatedAt: Date
    /** Facts that a release before the journal has counted, and left with their rounds. */
    applied?: readonly string[]
  }

/** What an alarm does: takes its game down for new rounds everywhere, or only notifies operations. */
export type AlarmRule = 'take-down' | 'tell'

/** An alarm: the stream as it was, and what became of it. It stays for ever. */
export type AlarmDocument = WithAudit & {
  _id: string
  game: string
  /** Until somebody lifts it. */
  open: boolean
  stream: StreamDocument
  /** What the setting said when it was raised. */
  rule: AlarmRule
  raisedAt: Date
  liftedAt: Date | null
  liftedBy: string | null
  liftReason: string | null
}

export function newStreamDocument(step: StreamStep, position: number, at: Date): StreamDocument {
  const { share, scope, currency, game, rules, shape, win, outcomes } = step
  return {
    _id: streamKey(step),
    version: 1,
    ...{ share, scope, currency, game, rules, shape, win, position },
    generation: 1,
    ...emptied(outcomes, at),
    cursors: {},
  }
}

/** The fields of a stream that begins at `at`. */
export function emptied(outcomes: number, at: Date) {
  return {
    counts: Array.from({ length: outcomes }, () => 0),
    log: 0,
    ...{ staked: '0', paid: '0', points: [] },
    ...{ alarmedAt: null, crossing: null, alarmDueAt: null },
    ...{ startedAt: at, updatedAt: at },
  }
}

export function encodeStream({ evidence, staked, paid, points, alarmedAt, crossing }: KeptStream) {
  const { counts, log } = evidence
  return { counts, log, staked: String(staked), paid: String(paid), points, alarmedAt, crossing }
}
