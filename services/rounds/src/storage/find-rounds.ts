import type { Scope } from '@pitboss/contracts/caller'
import { hasMovement, isUnfinished, type RoundState } from '../rules/round.ts'
import { decodeRound, fieldsOf, type RoundDocument, scopeKey, type StoredRound } from './round-document.ts'
import { movementKey, requestKey, type StreamState } from './round-stream.ts'
import { currentOf, readRound, readState, type RoundStreams, storedOf } from './round-streams.ts'

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
export async function findRequest(
  streams: RoundStreams,
  scope: Scope,
  sequence: string,
  transactionId: string,
): Promise<ClaimedBy | null> {
  const claimed = await findClaimed(streams, requestKey(sequence, transactionId))
  if (claimed !== null) return claimed
  const document = await streams.lists.openedBy(scope, sequence, transactionId)
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

export async function roundsOf(streams: RoundStreams, documents: readonly RoundDocument[]) {
  const found = await Promise.all(documents.map((document) => currentOf(streams, document)))
  return found.flatMap((stored) => (stored === null ? [] : [stored.round]))
}

/** `roundsOf` of documents with this status: what has another one by now is shown as it is listed. */
export async function roundsWithStatus(
  streams: RoundStreams,
  documents: readonly RoundDocument[],
  status: RoundState['status'],
): Promise<RoundState[]> {
  const found = await Promise.all(
    documents.map(async (document) => {
      const current = await currentOf(streams, document)
      if (current === null || current.round.status === status) return current?.round ?? null
      return decodeRound(fieldsOf(document))
    }),
  )
  return found.filter((round) => round !== null)
}
