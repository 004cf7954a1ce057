import { type Scope, scopeKey } from '@pitboss/contracts/caller'
import { ServiceError, tryAgain } from '@pitboss/errors/service-error'
import type { BoundedMap } from '@pitboss/runtime/bounded-map'
import { append, type Decided, reload } from '@pitboss/storage/journal/journal'
import type { StreamKey } from '@pitboss/storage/journal/journal-keys'
import type { RunningJournal } from '@pitboss/storage/journal/open-journal'
import { hasMovement, isUnfinished, owesSomething, type RoundState } from '../rules/round.ts'
import type { RoundWork } from './due-rounds.ts'
import {
  type DatedCommitment,
  decodeRound,
  fieldsOf,
  type RoundDocument,
  type RoundFields,
  sequenceOf,
  type StoredRound,
} from './round-document.ts'
import type { RoundLists } from './round-lists.ts'
import {
  loadedState,
  movementKey,
  requestKey,
  type RoundFact,
  streamOf,
  type StreamState,
} from './round-stream.ts'

/** Time within which the database answers a write. */
const writeMs = 5000

/** The highest nonce of a sequence (0: none), and the next one's commitment, if its round made one. */
export type LastNonce = {
  readonly nonce: number
  readonly unfinished: boolean
  readonly next: DatedCommitment | null
}

type Met = {
  readonly stream: StreamKey
  readonly number: number
  /** Null for a round that was taken back. */
  readonly status: RoundState['status'] | null
}

export type RoundsJournal = Pick<RunningJournal<RoundFact>, 'journal' | 'listed' | 'alive' | 'taking'> & {
  readonly instances: Pick<RunningJournal<RoundFact>['instances'], 'readExited'>
  /** When a worker looks at a round that this process has taken over. */
  readonly dueAtOf: (round: RoundState) => Date | null
  /** Lists the rounds of what is not known to be done. */
  readonly showUndone: () => Promise<void>
}

/** The streams of rounds with what this process remembers of them: the first argument of their functions. */
export type RoundStreams = RoundsJournal & {
  readonly lists: RoundLists
  readonly work: RoundWork
  /** Counts a round that this process has written, by the state before; null for a new one. */
  readonly noteState: (before: RoundState | null, after: RoundState) => void
  /** The ends of sequences, with the instance that saw its last round end, and when. */
  readonly ends: BoundedMap<string, LastNonce & { readonly by: string; readonly at: number }>
  /** Rounds that this process has met lately, with the greatest number that it knows of each. */
  readonly met: BoundedMap<string, Met>
}

/** Appends an entry. @throws ServiceError SERVICE_UNAVAILABLE when it is not known whether it stands */
export async function appendTo(
  { journal }: Pick<RoundStreams, 'journal'>,
  stream: StreamKey,
  number: number,
  decided: Decided<RoundFact>,
): Promise<'appended' | 'taken' | 'claimed'> {
  const { kind } = await append(journal, stream, number, decided, deadline({ journal }))
  if (kind === 'unknown') throw unanswered(stream)
  return kind
}

export function deadline({ journal }: Pick<RoundStreams, 'journal'>): number {
  return journal.steadyMs() + writeMs
}

export function meet({ met }: RoundStreams, roundId: string, one: Met): void {
  if ((met.get(roundId)?.number ?? 0) <= one.number) met.set(roundId, one)
}

/** Reads a stream as it is now; null where it has no round, or one that was taken back. */
export async function readRound(streams: RoundStreams, stream: StreamKey): Promise<StoredRound | null> {
  return storedOf(streams, stream, await readState(streams, stream))
}

/** Reads past the memory, which knows nothing of what others have appended since. */
export async function readState({ journal }: RoundStreams, stream: StreamKey): Promise<StreamState> {
  return loadedState(await reload(journal, stream))
}

export function storedOf(streams: RoundStreams, stream: StreamKey, state: StreamState): StoredRound | null {
  const { fields, number, adoptedAt, isWithdrawn, isPlace } = state
  if (fields === null || isWithdrawn || isPlace) return null
  const round = decodeRound(fields)
  const { dueAt = null, checks = 0 } = streams.work.get(round.id) ?? {}
  meet(streams, round.id, { stream, number, status: round.status })
  return { round, stream, version: number, dueAt, checks, claims: adoptedAt, fields }
}

export async function currentOf(streams: RoundStreams, document: RoundDocument): Promise<StoredRound | null> {
  const fields = fieldsOf(document)
  const round = decodeRound(fields)
  const stream = streamOf(round)
  const { n = 0 } = document
  const isOver = !isUnfinished(round) && !owesSomething(round)
  // A later change of a round that is over takes the next number: who knows an older one reads again.
  if (isOver) return { round, stream, version: n, dueAt: null, checks: 0, claims: 0, fields }
  return n === 0 ? null : readRound(streams, stream)
}

export function noteRound(streams: RoundStreams, stored: StoredRound): StoredRound {
  const { round, stream, version, dueAt, checks } = stored
  meet(streams, round.id, { stream, number: version, status: round.status })
  streams.work.note(round.id, { stream, scope: scopeKey(round), dueAt, checks, isOwed: owesSomething(round) })
  if (!isUnfinished(round)) rememberEnd(streams, round, stored.fields)
  return stored
}

/** Remembers a round after an entry that has changed nothing in it: its writer goes on with the round. */
export function goOn(streams: RoundStreams, stored: StoredRound): void {
  const known = streams.work.get(stored.round.id)
  const dueAt = known === null ? streams.dueAtOf(stored.round) : known.dueAt
  noteRound(streams, { ...stored, version: stored.version + 1, dueAt })
}

export function rememberEnd({ ends, journal }: RoundStreams, round: RoundState, { next }: RoundFields): void {
  const sequence = sequenceOf(round)
  const by = journal.instance()
  if (by === null || (ends.get(sequence)?.nonce ?? 0) > round.nonce) return
  const seen = { by, at: journal.steadyMs() }
  ends.set(sequence, { nonce: round.nonce, unfinished: false, next: next ?? null, ...seen })
}

export function unanswered(name: string): ServiceError {
  return tryAgain(`it is not known whether an entry of ${name} stands`)
}

export type ClaimedBy = { readonly stored: StoredRound } | { readonly dead: NonNullable<StreamState['dead']> }

export async function findRound(streams: RoundStreams, scope: Scope, roundId: string) {
  const found = await findAnywhere(streams, roundId)
  return found !== null && scopeKey(found.round) === scopeKey(scope) ? found : null
}

/** Finds a round of any account. Called for operations and for late movements, too. */
export async function findAnywhere(streams: RoundStreams, roundId: string): Promise<StoredRound | null> {
  const known = streams.met.get(roundId)
  if (known !== undefined) return readRound(streams, known.stream)
  const document = await streams.lists.find(roundId)
  return document === null ? null : currentOf(streams, document)
}

/** What has claimed an id; null for nothing that stands. */
export async function findClaimed(streams: RoundStreams, key: string): Promise<ClaimedBy | null> {
  const [found] = await streams.journal.store.read([key])
  if (found === undefined || !('s' in found)) return null
  const state = await readState(streams, found.s)
  if (state.dead !== null) return { dead: state.dead }
  const stored = storedOf(streams, found.s, state)
  return stored === null ? null : { stored }
}

/** What became of a player's request to play that has this id of its own: a round or a refusal. */
export async function findRequest(streams: RoundStreams, scope: Scope, sequence: string, id: string) {
  const claimed = await findClaimed(streams, requestKey(sequence, id))
  if (claimed !== null) return claimed
  const document = await streams.lists.openedBy(scope, sequence, id)
  const stored = document === null ? null : await currentOf(streams, document)
  return stored === null ? null : { stored }
}

/** Rounds with a movement of this id, oldest first, rarely several; not one that was only opened under it. */
export async function listByTransaction(streams: RoundStreams, scope: Scope, transactionId: string) {
  const claimed = await findClaimed(streams, movementKey(scope, transactionId))
  if (claimed !== null && 'stored' in claimed && hasMovement(claimed.stored.round, transactionId))
    return [claimed.stored]
  const documents = await streams.lists.withMovements(scope, [transactionId])
  const found = await Promise.all(documents.map((document) => currentOf(streams, document)))
  return found
    .filter((one) => one !== null)
    .filter(({ round }) => hasMovement(round, transactionId))
    .sort((a, b) => (a.round.id < b.round.id ? -1 : 1))
}

/** Resolves when lists show the round. Of an unfinished one the status suffices: the journal has the rest. */
export async function showRound({ met, lists, listed }: RoundStreams, roundId: string): Promise<void> {
  const known = met.get(roundId)
  if (known === undefined || known.number === 0) return
  const { stream, number, status } = known
  if (status !== null && isUnfinished({ status }) && lists.listedStatus(roundId) === status) return
  await listed(stream, number)
}

/** Rounds of list documents, unfinished ones by the journal. What has left `status` is shown as listed. */
export async function roundsOf(
  streams: RoundStreams,
  documents: readonly RoundDocument[],
  status?: RoundState['status'],
): Promise<RoundState[]> {
  const found = await Promise.all(
    documents.map(async (document) => {
      const current = await currentOf(streams, document)
      const isAsListed = status === undefined || current?.round.status === status
      return current === null || isAsListed ? current?.round : decodeRound(fieldsOf(document))
    }),
  )
  return found.filter((round) => round !== undefined)
}
