import { adopt, load } from '@pitboss/storage/journal/journal'
import type { StreamKey } from '@pitboss/storage/journal/journal-keys'
import { waitMaxMs } from '../rules/due-at.ts'
import { isUnfinished, owesSomething } from '../rules/round.ts'
import type { StoredRound } from './round-document.ts'
import { askerOf, claimsOfEntry, loadedState, type RoundEntry, streamState } from './round-stream.ts'
import {
  deadline,
  noteRound,
  readRound,
  readState,
  type RoundStreams,
  storedOf,
  unanswered,
} from './round-streams.ts'

/** The least number of due rounds that a tenant has in one look. */
const shareMin = 8

/** Takes a round, so that no request takes its intents back any more; null when it has changed since. */
export async function claimRound(streams: RoundStreams, { stream, checks }: StoredRound, until: Date) {
  const taken = await adopted(streams, stream)
  // Another call of this process may have been first.
  if (taken === null) return null
  return noteRound(streams, { ...taken, stream, dueAt: until, checks: checks + 1 })
}

/** A round that this process has, once it is taken over after the last entry with claims. */
async function adopted(streams: RoundStreams, stream: StreamKey): Promise<StoredRound | null> {
  const { journal, taking } = streams
  const state = loadedState(await load(journal, stream))
  const isOwn = state.owner === journal.instance()
  if (isOwn && state.adoptedAt > state.claimedAt) return storedOf(streams, stream, state)
  return taking(stream, () => adoptNow(streams, stream))
}

/** @throws ServiceError SERVICE_UNAVAILABLE when it is not known whether that stands: it is to be repeated */
async function adoptNow(streams: RoundStreams, stream: StreamKey): Promise<StoredRound | null> {
  const adopting = { adopted: { adopted: true }, claimsOf: claimsOfEntry } as const
  const done = await adopt(streams.journal, stream, adopting, deadline(streams))
  if (done.kind === 'unknown') throw unanswered(stream)
  return done.kind === 'taken' ? null : readRound(streams, stream)
}

/** Takes over a round whose instance is dead, into the memory of this one. What it owes is due at once. */
export async function takeOver(streams: RoundStreams, stream: StreamKey): Promise<void> {
  const stored = await adoptNow(streams, stream)
  if (stored === null) return
  const { round } = stored
  const dueAt = owesSomething(round) ? streams.journal.now() : streams.dueAtOf(round)
  noteRound(streams, { ...stored, dueAt, checks: 0 })
}

/**
 * Whether the process has certainly exited that stored the intent of a stake. Nobody asks for the stake then,
 * or waits for an answer; a request on its way may still arrive. One that is silent may only stand still.
 */
export async function hasAskerExited(streams: RoundStreams, { stream }: StoredRound, stakeId: string) {
  const { journal, instances } = streams
  const asker = askerOf((await load(journal, stream)).entries, stakeId)
  if (asker === null || asker === journal.instance()) return false
  return (await instances.readExited([asker])).length > 0
}

export function takeIn(streams: RoundStreams, stream: StreamKey, entries: readonly RoundEntry[]): void {
  const state = streamState(entries)
  const stored = storedOf(streams, stream, state)
  if (stored !== null && state.owner === streams.journal.instance())
    noteRound(streams, { ...stored, dueAt: streams.dueAtOf(stored.round) })
}

/** Lets a round rest longer, unless it has changed meanwhile. */
export async function postpone({ work }: RoundStreams, { round, dueAt }: StoredRound, until: Date) {
  const waiting = work.get(round.id)
  if (waiting !== null && waiting.dueAt.getTime() === dueAt?.getTime())
    work.note(round.id, { ...waiting, dueAt: until })
}

type Sweep = { after: string; tenantsMax: number; roundsMax: number }

/** Due rounds of this process, longest first: a page for each of `tenantsMax` tenants, `roundsMax` in all. */
export async function findDue(streams: RoundStreams, now: Date, { after, tenantsMax, roundsMax }: Sweep) {
  const due = streams.work.due(now)
  const scopes = [...due.keys()]
    .filter((scope) => scope > after)
    .toSorted()
    .slice(0, tenantsMax)
  const share = Math.max(shareMin, Math.floor(roundsMax / Math.max(1, scopes.length)))
  const pages = await Promise.all(
    scopes.map(async (scope) => {
      const page = (due.get(scope) ?? []).slice(0, share)
      const found = await Promise.all(page.map((one) => readDue(streams, one)))
      return found.filter((stored) => stored !== null)
    }),
  )
  const wasFull = scopes.length === tenantsMax
  return {
    pages,
    sweptTo: wasFull ? (scopes.at(-1) ?? '') : '',
    mayHaveMore: wasFull || after !== '' || pages.some(({ length }) => length === share),
  }
}

/** A round with something left to do; null for one that another process, which is alive, has taken. */
async function readDue(streams: RoundStreams, due: DueRound): Promise<StoredRound | null> {
  const { stream } = due.waiting
  const state = await readState(streams, stream)
  const own = streams.journal.instance()
  // A process that may count as dead has no round, and has them all again when it turns out to be alive.
  if (own === null) return null
  const isOthers = state.owner !== own && streams.alive().includes(state.owner)
  const stored = isOthers ? null : storedOf(streams, stream, state)
  if (stored !== null && (isUnfinished(stored.round) || owesSomething(stored.round))) return stored
  streams.work.dropDue(due)
  return null
}

/** A round with work left, in the memory of the instance that wrote its last entry. */
export type WaitingRound = {
  readonly stream: StreamKey
  readonly scope: string
  readonly dueAt: Date
  /** Whether anything is owed: then it never waits for longer than a minute. */
  readonly isOwed: boolean
  readonly checks: number
}

export type DueRound = { readonly roundId: string; readonly waiting: WaitingRound }

export type RoundWork = ReturnType<typeof createRoundWork>

export function createRoundWork() {
  const waiting = new Map<string, WaitingRound>()
  return {
    get: (roundId: string) => waiting.get(roundId) ?? null,
    /** Takes a round in, or moves it; null for its time drops it. */
    note(roundId: string, { dueAt, ...round }: Omit<WaitingRound, 'dueAt'> & { dueAt: Date | null }): void {
      if (dueAt === null) waiting.delete(roundId)
      else waiting.set(roundId, { ...round, dueAt })
    },
    drop: (roundId: string) => void waiting.delete(roundId),
    /** Drops what was due, unless it has been noted again since. */
    dropDue({ roundId, waiting: seen }: DueRound): void {
      if (waiting.get(roundId) === seen) waiting.delete(roundId)
    },
    forget: () => waiting.clear(),
    /** Due rounds by scope, longest first; also those dated beyond any delay, by a clock ahead. */
    due(now: Date): ReadonlyMap<string, readonly DueRound[]> {
      const isMisdated = ({ dueAt, isOwed }: WaitingRound) =>
        isOwed && dueAt.getTime() > now.getTime() + waitMaxMs
      const due = [...waiting]
        .filter(([, round]) => round.dueAt <= now || isMisdated(round))
        .map(([roundId, round]) => ({ roundId, waiting: round }))
        .toSorted((a, b) => a.waiting.dueAt.getTime() - b.waiting.dueAt.getTime())
      return Map.groupBy(due, (one) => one.waiting.scope)
    },
    nextDueMs: () => Math.min(...[...waiting.values()].map(({ dueAt }) => dueAt.getTime()), Infinity),
  }
}
