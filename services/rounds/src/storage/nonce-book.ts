import type { ClaimDocument } from '@pitboss/storage/journal/journal'
import { claimedOwn } from '@pitboss/storage/journal/journal-keys'
import { isUnfinished } from '../rules/round.ts'
import { updateRound } from './append-round.ts'
import type { StoredRound } from './round-document.ts'
import { bookKey, bookRange, isPlaceStream } from './round-stream.ts'
import {
  appendTo,
  currentOf,
  goOn,
  type LastNonce,
  readRound,
  readState,
  rememberEnd,
  type RoundStreams,
  storedOf,
  unanswered,
} from './round-streams.ts'

/** A process that is the only one trusts the end that it remembers of a sequence for so long. */
const trustedMs = 30_000
/** Nonces that one question names: the remembered one, and those that others may have played since. */
const askedMax = 4
const triesMax = 12
const placesMax = 100

type Last = { readonly last: LastNonce; readonly stored: StoredRound | null }

/**
 * The highest nonce of a sequence. A process that remembers it asks only whether the next ones are taken.
 * After a restore the process is another instance, which remembers nothing.
 */
export async function lastNonce(streams: RoundStreams, sequence: string): Promise<LastNonce> {
  const { journal, ends, alive } = streams
  const end = ends.get(sequence)
  if (end === undefined || end.by !== journal.instance()) return (await readLast(streams, sequence)).last
  const nowMs = journal.steadyMs()
  if (alive().length === 1 && nowMs - end.at < trustedMs) return end
  const keys = Array.from({ length: askedMax }, (_, at) => bookKey(sequence, end.nonce + at))
  const found = new Map((await journal.store.read(keys)).map((one) => [one._id, one]))
  // Nonces have no gaps.
  const free = keys.findIndex((key) => !found.has(key))
  if (free === 1) {
    // A round of this process may have begun meanwhile.
    if (ends.get(sequence) === end) ends.set(sequence, { ...end, at: nowMs })
    return end
  }
  const claim = found.get(keys[free - 1] ?? '')
  const known = claim === undefined || !('s' in claim) ? null : await readTaken(streams, sequence, claim)
  return (known ?? (await readLast(streams, sequence))).last
}

/** The last nonce and its round, which is not taken back any more: a page shows the next commitment. */
export async function lastShown(streams: RoundStreams, sequence: string): Promise<Last> {
  for (let tries = 0; tries < triesMax; tries++) {
    const found = await readLast(streams, sequence)
    if (found.stored === null || found.stored.version !== 1) return found
    const { stream } = found.stored
    const appended = await appendTo(streams, stream, 1, { facts: [{ shown: true }] })
    if (appended === 'appended') goOn(streams, found.stored)
  }
  throw unanswered(sequence)
}

export async function findLast(streams: RoundStreams, sequence: string): Promise<StoredRound | null> {
  return (await readLast(streams, sequence)).stored
}

export async function findUnfinished(streams: RoundStreams, sequence: string): Promise<StoredRound | null> {
  const found = await findLast(streams, sequence)
  return found !== null && isUnfinished(found.round) ? found : null
}

/** The highest nonce of a sequence that is taken, of those below this one; 0 for none. */
export async function readNonce(streams: RoundStreams, sequence: string, below: number | null) {
  const { above, below: end } = bookRange(sequence)
  const range = { above, below: below === null ? end : bookKey(sequence, below) }
  const [claim] = await streams.journal.store.readClaims(range, 1)
  if (claim !== undefined) return Number(claimedOwn(claim._id))
  return (await findListed(streams, sequence, below))?.document.nonce ?? 0
}

/** Ends a session for its round, if it plays one: the round becomes due at `due` at the latest. */
export async function endSession(
  streams: RoundStreams,
  sequence: string,
  sessionId: string,
  endedAt: Date,
  due: Date,
): Promise<void> {
  for (let tries = 0; tries < triesMax; tries++) {
    const stored = await findLast(streams, sequence)
    if (stored === null || stored.round.sessionId !== sessionId || stored.round.sittingEndsAt <= endedAt)
      return
    const { driver, status } = stored.round
    if (driver !== 'game' || (status !== 'PENDING' && status !== 'OPEN')) return
    const dueAt = stored.dueAt === null || stored.dueAt > due ? due : stored.dueAt
    const round = { ...stored.round, sittingEndsAt: endedAt }
    if ((await updateRound(streams, stored, { round, dueAt, events: [], fact: null })) !== null) return
  }
  throw unanswered(sequence)
}

/** The last round of a sequence by the book; by the list documents where the sequence has no book yet. */
async function readLast(streams: RoundStreams, sequence: string): Promise<Last> {
  const { store } = streams.journal
  for (let tries = 0; tries < triesMax; tries++) {
    const [claim] = await store.readClaims(bookRange(sequence), 1)
    if (claim === undefined) return readOlderLast(streams, sequence)
    const last = await readTaken(streams, sequence, claim)
    if (last !== null) return last
  }
  throw unanswered(sequence)
}

/** The round of the highest nonce that is taken; null once that nonce is free again. */
async function readTaken(streams: RoundStreams, sequence: string, claim: ClaimDocument) {
  const state = await readState(streams, claim.s)
  if (state.isWithdrawn) {
    await streams.journal.store.removeClaim(claim._id, claim.w)
    return null
  }
  // The write of a claim without an entry may be on its way: that nonce is fought for.
  if (state.fields === null) return readBefore(streams, sequence, claim._id)
  const stored = state.isPlace
    ? await findBelow(streams, sequence, claim._id)
    : storedOf(streams, claim.s, state)
  const unfinished = stored !== null && isUnfinished(stored.round)
  if (stored !== null && !unfinished && !state.isPlace) rememberEnd(streams, stored.round, stored.fields)
  const { nonce, next = null } = state.fields
  return { last: { nonce, unfinished, next }, stored }
}

/** The last round below the places of lost ones: a database that was set back may have it unfinished. */
async function findBelow(streams: RoundStreams, sequence: string, key: string): Promise<StoredRound | null> {
  const { above } = bookRange(sequence)
  for (let below = key; ; ) {
    const claims = await streams.journal.store.readClaims({ above, below }, placesMax)
    const round = claims.find(({ s }) => !isPlaceStream(s))
    if (round !== undefined) return readRound(streams, round.s)
    if (claims.length < placesMax) return (await readOlderLast(streams, sequence)).stored
    below = claims.at(-1)?._id ?? above
  }
}

/** As `readLast`, of the nonces below a claim that has no entry. */
async function readBefore(streams: RoundStreams, sequence: string, key: string): Promise<Last> {
  const { above } = bookRange(sequence)
  const [claim] = await streams.journal.store.readClaims({ above, below: key }, 1)
  if (claim === undefined) return readOlderLast(streams, sequence)
  const state = await readState(streams, claim.s)
  if (state.fields === null) throw unanswered(sequence)
  const { nonce, unfinished, next = null } = state.fields
  return { last: { nonce, unfinished, next }, stored: storedOf(streams, claim.s, state) }
}

async function readOlderLast(streams: RoundStreams, sequence: string): Promise<Last> {
  const found = await findListed(streams, sequence, null)
  if (found === null) return { last: { nonce: 0, unfinished: false, next: null }, stored: null }
  const { document, stored } = found
  const unfinished = stored !== null && isUnfinished(stored.round)
  return { last: { nonce: document.nonce, unfinished, next: document.next ?? null }, stored }
}

/** The document with the highest nonce below this one, unless its round was taken back. */
async function findListed(streams: RoundStreams, sequence: string, below: number | null) {
  for (let nonce = below, tries = 0; tries < triesMax; tries++) {
    const document = await streams.lists.last(sequence, nonce)
    if (document === null) return null
    // The place of a lost round has no scope.
    const stored = 'scope' in document ? await currentOf(streams, document) : null
    if (stored !== null || document.n === undefined) return { document, stored }
    nonce = document.nonce
  }
  throw unanswered(sequence)
}
