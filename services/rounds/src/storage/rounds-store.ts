import { BoundedMap } from '@pitboss/runtime/bounded-map'
import type { Scope } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import { changeBetween } from '@pitboss/storage/journal/change-document'
import type { OutboxEntry } from '@pitboss/storage/outbox-entry'
import {
  adopt,
  append,
  type ClaimDocument,
  type Decided,
  load,
  reload,
} from '@pitboss/storage/journal/journal'
import { claimedOwn, claimsOf, type StreamKey } from '@pitboss/storage/journal/journal-keys'
import type { RunningJournal } from '@pitboss/storage/journal/open-journal'
import {
  hasMovement,
  isUnfinished,
  owesSomething,
  type Reversal,
  type RoundState,
  type Stake,
  type Win,
} from '../rules/round.ts'
import {
  decodeRound,
  type DatedCommitment,
  encodeRound,
  type FactEntry,
  fieldsOf,
  type RoundDocument,
  type RoundFields,
  type RoundWrite,
  scopeKey,
  sequenceOf,
  type StoredRound,
} from './round-document.ts'
import type { RoundFilters, RoundLists, RoundSums } from './round-lists.ts'
import {
  addedMovements,
  besideTombstoneKey,
  bookKey,
  bookKind,
  bookOwner,
  claimsOfEntry,
  claimsOfFact,
  loadedState,
  isPlaceStream,
  keep,
  movementKey,
  requestKey,
  type RoundEntry,
  type RoundFact,
  streamOf,
  streamState,
  type StreamState,
} from './round-stream.ts'
import type { DueRound, RoundWork } from './round-work.ts'

const rememberedMax = 10_000
const streamsMax = 20_000
/** Time for which the end of a sequence's last round is remembered: short against the time of a restore. */
const rememberedMs = 30_000
/** Time within which the database answers a write. */
const writeMs = 5000
const triesMax = 12
/** Places of lost rounds in one read. */
const placesMax = 100
/** The least number of due rounds that a tenant has in one look. */
const shareMin = 8

/**
 * The highest nonce of a sequence (0: none), whether its round is unfinished, and the commitment of the next
 * nonce, if its round has made one.
 */
export type LastNonce = {
  readonly nonce: number
  readonly unfinished: boolean
  readonly next: DatedCommitment | null
}

/** The round that a player's request has opened, or the request's refusal, by the claim of its id. */
export type ClaimedBy = { readonly stored: StoredRound } | { readonly dead: NonNullable<StreamState['dead']> }

/** An id that the operator's server sends belongs to something else. */
export class IdTaken extends Error {
  override readonly name = 'IdTaken'
}

export type RoundsStore = ReturnType<typeof createRoundsStore>

/** A round of which this process knows entries. */
type Met = {
  readonly stream: StreamKey
  readonly number: number
  /** Null for a round that was taken back. */
  readonly status: RoundState['status'] | null
}

export type RoundsJournal = Pick<RunningJournal<RoundFact>, 'journal' | 'listed' | 'alive' | 'taking'> & {
  /** When a worker looks at a round that this process has taken over. */
  readonly dueAtOf: (round: RoundState) => Date | null
  /** Lists the rounds of what is not known to be done. */
  readonly showUndone: () => Promise<void>
}

/**
 * Creates the store of rounds: a stream of entries for each, which alone decides, and list documents. A step
 * is the entry after the one that its writer knows; nonces and ids that clients send are claims.
 */
export function createRoundsStore({
  journal: { journal, listed, alive, taking, dueAtOf, showUndone },
  lists,
  work,
}: {
  journal: RoundsJournal
  lists: RoundLists
  work: RoundWork
}) {
  const { store } = journal
  const ends = new BoundedMap<string, LastNonce & { readonly at: number }>(rememberedMax)
  /** Rounds that this process has met lately, with the greatest number that it knows of each. */
  const streams = new BoundedMap<string, Met>(streamsMax)
  const meet = (roundId: string, met: Met) => {
    if ((streams.get(roundId)?.number ?? 0) <= met.number) streams.set(roundId, met)
  }
  const deadline = () => journal.steadyMs() + writeMs

  return {
    insert,
    update,
    withdrawMovement,
    remove,
    find,
    findAnywhere,
    findClaimed,
    findRequest,
    listByTransaction,
    last,
    findLast,
    readNonce,
    lastShown,
    publishAgain,
    findUnfinished: async (sequence: string) => {
      const found = await findLast(sequence)
      return found !== null && isUnfinished(found.round) ? found : null
    },
    endSession,
    claim,
    takeOver,
    takeIn,
    postpone,
    findDue,
    show,
    showUndone,
    confirmPrimary: lists.confirmPrimary,
    ...readLists(),
  }

  /** Stores a new round. Null when another has its nonce or its id. */
  async function insert(
    { round, dueAt }: Pick<RoundWrite, 'round' | 'dueAt'>,
    commitments: { readonly committedAt: Date; readonly next: DatedCommitment },
  ): Promise<StoredRound | null> {
    const base = encodeRound(round, commitments)
    const stream = streamOf(round)
    const fact = { base }
    const decided = { facts: [fact], claims: claimsOfFact(fact) } as const
    const appended = await append(journal, stream, 0, decided, deadline())
    if (appended.kind === 'unknown') throw unanswered(stream)
    if (appended.kind !== 'appended') {
      ends.delete(sequenceOf(round))
      return null
    }
    return noted({ round, stream, version: 1, dueAt, checks: 0, claims: 0, fields: base })
  }

  /**
   * Appends a change; null when another entry was first.
   * @throws IdTaken when a movement that it adds has an id of something else
   */
  async function update(stored: StoredRound, write: RoundWrite): Promise<StoredRound | null> {
    const { stream, version } = stored
    const { fields, fact } = await changeOf(stored, write)
    const claims = claimsOfFact(fact)
    const decided: Decided<RoundFact> = { facts: [fact], events: write.events, claims }
    const appended = await append(journal, stream, version, decided, deadline())
    if (appended.kind === 'unknown') throw unanswered(stream)
    if (appended.kind === 'taken') return null
    if (appended.kind === 'claimed') throw new IdTaken(`an id of ${stream} is taken`)
    return written(stored, write, fields)
  }

  /**
   * Takes back a movement that was intended, as `update` does; false when another entry was first. What its
   * entry had claimed is free again.
   */
  async function withdrawMovement(stored: StoredRound, write: RoundWrite): Promise<boolean> {
    const { stream, version, fields: before } = stored
    const { fields, fact } = await changeOf(stored, write)
    const gone = before.transactionIds
      .filter((id) => !fields.transactionIds.includes(id))
      .flatMap((id) => [movementKey(stored.round, id), besideTombstoneKey(stored.round, id)])
    const { entries } = await load(journal, stream)
    const intent = entries.findLast(({ f }) => f.some(({ ids = [] }) => ids.some((id) => gone.includes(id))))
    const appended = await append(
      journal,
      stream,
      version,
      {
        facts: [fact],
        events: write.events,
        ...(intent === undefined ? {} : { withdraws: { entry: intent, claims: claimsOfEntry(intent) } }),
      },
      deadline(),
    )
    if (appended.kind === 'unknown') throw unanswered(stream)
    if (appended.kind !== 'appended') return false
    written(stored, write, fields)
    return true
  }

  /** Takes back a round whose stake was never asked for; false when anybody has touched it since. */
  async function remove({ stream, version, round }: StoredRound): Promise<boolean> {
    const { entries } = await load(journal, stream)
    const [intent] = entries
    if (intent === undefined) return false
    const end = {
      facts: [{ withdrawn: true }],
      withdraws: { entry: intent, claims: claimsOfEntry(intent) },
    } as const
    const appended = await append(journal, stream, version, end, deadline())
    if (appended.kind !== 'appended') return false
    meet(round.id, { stream, number: version + 1, status: null })
    work.drop(round.id)
    if (lists.listedStatus(round.id) !== null) await show(round.id)
    return true
  }

  /** What an update records: a round that is older than the journal enters it whole. */
  async function changeOf(stored: StoredRound, { round, fact: counted }: RoundWrite) {
    const fields = encodeRound(round, stored.fields)
    const added = addedMovements(stored.round, round)
    const ids = await Promise.all(added.map((movement) => addedKey(round, movement)))
    const fact: RoundFact = {
      ...(stored.version === 0
        ? { base: fields, isOlder: true as const }
        : { change: changeBetween(stored.fields, fields, keep) }),
      ...(ids.length === 0 ? {} : { ids }),
      ...(counted === null ? {} : { counted: factEntry(counted) }),
    }
    return { fields, fact }
  }

  /** The key under which an added movement claims its id. A tombstone leaves its id to what gives back. */
  async function addedKey(round: RoundState, movement: Stake | Win | Reversal): Promise<string> {
    const key = movementKey(round, movement.transactionId)
    if (!('referenceTransactionId' in movement)) return key
    const claimed = await findClaimed(key)
    const isTombstone = claimed !== null && 'dead' in claimed && claimed.dead.meaning === null
    return isTombstone ? besideTombstoneKey(round, movement.transactionId) : key
  }

  function written(stored: StoredRound, { round, dueAt }: RoundWrite, fields: RoundFields): StoredRound {
    return noted({ ...stored, round, fields, version: stored.version + 1, dueAt, checks: 0 })
  }

  /** Remembers a round that this process has written: what it leaves to do is this process's. */
  function noted(stored: StoredRound): StoredRound {
    const { round, stream, version, dueAt, checks } = stored
    meet(round.id, { stream, number: version, status: round.status })
    work.note(round.id, { stream, scope: scopeKey(round), dueAt, checks, isOwed: owesSomething(round) })
    if (!isUnfinished(round)) rememberEnd(round, stored.fields)
    return stored
  }

  function rememberEnd(round: RoundState, { next }: RoundFields): void {
    const sequence = sequenceOf(round)
    if ((ends.get(sequence)?.nonce ?? 0) > round.nonce) return
    ends.set(sequence, { nonce: round.nonce, unfinished: false, next: next ?? null, at: journal.steadyMs() })
  }

  /** A stream as it is now; null where it has no round, or one that was taken back. */
  async function read(stream: StreamKey): Promise<StoredRound | null> {
    return storedOf(stream, await readState(stream))
  }

  /** Reads past the memory, which knows nothing of what others have appended since. */
  async function readState(stream: StreamKey): Promise<StreamState> {
    return loadedState(await reload(journal, stream))
  }

  function storedOf(stream: StreamKey, state: StreamState): StoredRound | null {
    const { fields, number, adoptedAt, isWithdrawn, isPlace } = state
    if (fields === null || isWithdrawn || isPlace) return null
    const round = decodeRound(fields)
    const { dueAt = null, checks = 0 } = work.get(round.id) ?? {}
    meet(round.id, { stream, number, status: round.status })
    return { round, stream, version: number, dueAt, checks, claims: adoptedAt, fields }
  }

  /** The round of a list document as it is now. */
  async function current(document: RoundDocument): Promise<StoredRound | null> {
    const fields = fieldsOf(document)
    const round = decodeRound(fields)
    const stream = streamOf(round)
    const { n = 0 } = document
    const isOver = !isUnfinished(round) && !owesSomething(round)
    // A later change of a round that is over takes the next number: who knows an older one reads again.
    if (isOver) return { round, stream, version: n, dueAt: null, checks: 0, claims: 0, fields }
    return n === 0 ? null : read(stream)
  }

  async function find(scope: Scope, roundId: string): Promise<StoredRound | null> {
    const found = await findAnywhere(roundId)
    return found !== null && scopeKey(found.round) === scopeKey(scope) ? found : null
  }

  /** Finds a round of any account. Called for operations and for late movements, too. */
  async function findAnywhere(roundId: string): Promise<StoredRound | null> {
    const met = streams.get(roundId)
    if (met !== undefined) return read(met.stream)
    const document = await lists.find(roundId)
    return document === null ? null : current(document)
  }

  /** What has claimed an id; null for nothing that stands. */
  async function findClaimed(key: string): Promise<ClaimedBy | null> {
    const [found] = await store.read([key])
    return found === undefined || !('s' in found) ? null : claimedBy(found)
  }

  async function claimedBy({ s: stream }: ClaimDocument): Promise<ClaimedBy | null> {
    const state = await readState(stream)
    if (state.dead !== null) return { dead: state.dead }
    const stored = storedOf(stream, state)
    return stored === null ? null : { stored }
  }

  /** What became of a player's request to play that has this id of its own: a round or a refusal. */
  async function findRequest(
    scope: Scope,
    sequence: string,
    transactionId: string,
  ): Promise<ClaimedBy | null> {
    const claimed = await findClaimed(requestKey(sequence, transactionId))
    if (claimed !== null) return claimed
    const document = await lists.openedBy(scope, sequence, transactionId)
    const stored = document === null ? null : await current(document)
    return stored === null ? null : { stored }
  }

  /**
   * Rounds with a movement of this id, oldest first: hardly ever more than one. Rounds of earlier releases
   * may share one.
   */
  async function listByTransaction(scope: Scope, transactionId: string): Promise<StoredRound[]> {
    const claimed = await findClaimed(movementKey(scope, transactionId))
    if (claimed !== null && 'stored' in claimed && hasMovement(claimed.stored.round, transactionId))
      return [claimed.stored]
    const found = await Promise.all((await lists.withMovements(scope, [transactionId])).map(current))
    return found.filter((one) => one !== null).sort((a, b) => (a.round.id < b.round.id ? -1 : 1))
  }

  /** The highest nonce of a sequence, from memory where this process has just seen its round end. */
  async function last(sequence: string): Promise<LastNonce> {
    const end = ends.get(sequence)
    if (end !== undefined && journal.steadyMs() - end.at < rememberedMs) return end
    return (await readLast(sequence)).last
  }

  /**
   * The last nonce and its round, for a page that shows the next nonce's commitment. That was made with the
   * last round, so from now on the round is not taken back.
   */
  async function lastShown(sequence: string): Promise<{ last: LastNonce; stored: StoredRound | null }> {
    for (let tries = 0; tries < triesMax; tries++) {
      const found = await readLast(sequence)
      if (found.stored === null || found.stored.version !== 1) return found
      const { stream } = found.stored
      const appended = await append(journal, stream, 1, { facts: [{ shown: true }] }, deadline())
      if (appended.kind === 'unknown') throw unanswered(stream)
      if (appended.kind === 'appended') goOn(found.stored)
    }
    throw unanswered(sequence)
  }

  /** Publishes an event of the round once more. */
  async function publishAgain(stored: StoredRound, event: OutboxEntry): Promise<void> {
    for (
      let current: StoredRound | null = stored;
      current !== null;
      current = await findAnywhere(stored.round.id)
    ) {
      const { stream, version, fields } = current
      const fact = version === 0 ? { base: fields, isOlder: true as const } : { change: {} }
      const events = [{ ...event, again: true as const }]
      const appended = await append(journal, stream, version, { facts: [fact], events }, deadline())
      if (appended.kind === 'appended') return goOn(current)
      if (appended.kind !== 'taken') throw unanswered(stream)
      meet(stored.round.id, { stream, number: version + 1, status: stored.round.status })
    }
  }

  async function findLast(sequence: string): Promise<StoredRound | null> {
    return (await readLast(sequence)).stored
  }

  /** The last round of a sequence by the book; by the list documents where the sequence has no book yet. */
  async function readLast(sequence: string): Promise<{ last: LastNonce; stored: StoredRound | null }> {
    for (let tries = 0; tries < triesMax; tries++) {
      const [claim] = await store.readClaims(claimsOf(bookKind, bookOwner(sequence)), 1)
      if (claim === undefined) return readOlderLast(sequence)
      const state = await readState(claim.s)
      if (state.isWithdrawn) {
        await store.removeClaim(claim._id, claim.w)
        continue
      }
      // The write of a claim without an entry may be on its way: that nonce is fought for.
      if (state.fields === null) return before(sequence, claim._id)
      const stored = state.isPlace ? await findBelow(sequence, claim._id) : storedOf(claim.s, state)
      const unfinished = stored !== null && isUnfinished(stored.round)
      if (stored !== null && !unfinished && !state.isPlace) rememberEnd(stored.round, stored.fields)
      const { nonce, next } = state.fields
      return { last: { nonce, unfinished, next: next ?? null }, stored }
    }
    throw unanswered(sequence)
  }

  /** The last round below the places of lost ones: a database that was set back may have it unfinished. */
  async function findBelow(sequence: string, key: string): Promise<StoredRound | null> {
    const { above } = claimsOf(bookKind, bookOwner(sequence))
    for (let below = key; ; ) {
      const claims = await store.readClaims({ above, below }, placesMax)
      const round = claims.find(({ s }) => !isPlaceStream(s))
      if (round !== undefined) return read(round.s)
      if (claims.length < placesMax) return (await readOlderLast(sequence)).stored
      below = claims.at(-1)?._id ?? above
    }
  }

  /** As `readLast`, of the nonces below a claim that has no entry. */
  async function before(
    sequence: string,
    key: string,
  ): Promise<{ last: LastNonce; stored: StoredRound | null }> {
    const { above } = claimsOf(bookKind, bookOwner(sequence))
    const [claim] = await store.readClaims({ above, below: key }, 1)
    if (claim === undefined) return readOlderLast(sequence)
    const state = await readState(claim.s)
    if (state.fields === null) throw unanswered(sequence)
    const { nonce, unfinished, next } = state.fields
    return { last: { nonce, unfinished, next: next ?? null }, stored: storedOf(claim.s, state) }
  }

  async function readOlderLast(sequence: string): Promise<{ last: LastNonce; stored: StoredRound | null }> {
    const found = await findListed(sequence, null)
    if (found === null) return { last: { nonce: 0, unfinished: false, next: null }, stored: null }
    const { document, stored } = found
    const unfinished = stored !== null && isUnfinished(stored.round)
    return { last: { nonce: document.nonce, unfinished, next: document.next ?? null }, stored }
  }

  /**
   * The document with the highest nonce of a sequence, of those below this one. The document of a round that
   * was taken back, which may outlive it for a moment, does not count.
   */
  async function findListed(sequence: string, below: number | null) {
    for (let nonce = below, tries = 0; tries < triesMax; tries++) {
      const document = await lists.last(sequence, nonce)
      if (document === null) return null
      // The place of a lost round has no scope.
      const stored = 'scope' in document ? await current(document) : null
      if (stored !== null || document.n === undefined) return { document, stored }
      nonce = document.nonce
    }
    throw unanswered(sequence)
  }

  /** The highest nonce of a sequence that is taken, of those below this one; 0 for none. */
  async function readNonce(sequence: string, below: number | null): Promise<number> {
    const { above, below: end } = claimsOf(bookKind, bookOwner(sequence))
    const range = { above, below: below === null ? end : bookKey(sequence, below) }
    const [claim] = await store.readClaims(range, 1)
    return claim === undefined
      ? ((await findListed(sequence, below))?.document.nonce ?? 0)
      : Number(claimedOwn(claim._id))
  }

  /** Ends a session for its round, if it plays one: the round becomes due at `due` at the latest. */
  async function endSession(sequence: string, sessionId: string, endedAt: Date, due: Date): Promise<void> {
    for (let tries = 0; tries < triesMax; tries++) {
      const stored = await findLast(sequence)
      if (stored === null || !playsIn(stored.round, sessionId) || stored.round.sittingEndsAt <= endedAt)
        return
      const dueAt = stored.dueAt === null || stored.dueAt > due ? due : stored.dueAt
      const round = { ...stored.round, sittingEndsAt: endedAt }
      if ((await update(stored, { round, dueAt, events: [], fact: null })) !== null) return
    }
    throw unanswered(sequence)
  }

  /**
   * Takes a round for this process until the time that is given; null when somebody has changed it since.
   * From then on no request takes an intent of the round back, since this process may ask for it.
   */
  async function claim(stored: StoredRound, until: Date): Promise<StoredRound | null> {
    const { stream, checks } = stored
    const taken = await adopted(stream)
    // Another call of this process may have been first, and has it in memory: the next look drops what is
    // others'.
    if (taken === null) return null
    return noted({ ...taken, stream, dueAt: until, checks: checks + 1 })
  }

  /** A round that this process has, once it is taken over after the last entry with claims. */
  async function adopted(stream: StreamKey): Promise<StoredRound | null> {
    const state = loadedState(await load(journal, stream))
    const isOwn = state.owner === journal.instance()
    if (isOwn && state.adoptedAt > state.claimedAt) return storedOf(stream, state)
    return taking(stream, () => adoptNow(stream))
  }

  /**
   * @throws ServiceError SERVICE_UNAVAILABLE when it is not known whether that stands: it is to be repeated
   */
  async function adoptNow(stream: StreamKey): Promise<StoredRound | null> {
    const done = await adopt(
      journal,
      stream,
      { adopted: { adopted: true }, claimsOf: claimsOfEntry },
      deadline(),
    )
    if (done.kind === 'unknown') throw unanswered(stream)
    if (done.kind === 'taken') return null
    return storedOf(stream, await readState(stream))
  }

  /** Takes over a round whose instance is dead, into the memory of this one. */
  async function takeOver(stream: StreamKey): Promise<void> {
    const stored = await adoptNow(stream)
    if (stored !== null) noted({ ...stored, dueAt: dueAtOf(stored.round), checks: 0 })
  }

  /** Takes a stream that this process has just begun into its memory. */
  function takeIn(stream: StreamKey, entries: readonly RoundEntry[]): void {
    const state = streamState(entries)
    const stored = storedOf(stream, state)
    if (stored !== null && state.owner === journal.instance())
      noted({ ...stored, dueAt: dueAtOf(stored.round) })
  }

  /** Remembers a round after an entry that has changed nothing in it: its writer goes on with the round. */
  function goOn(stored: StoredRound): void {
    const known = work.get(stored.round.id)
    const dueAt = known === null ? dueAtOf(stored.round) : known.dueAt
    noted({ ...stored, version: stored.version + 1, dueAt })
  }

  /** Lets a round rest longer, unless it has changed meanwhile. */
  async function postpone({ round, dueAt }: StoredRound, until: Date): Promise<void> {
    const waiting = work.get(round.id)
    if (waiting !== null && waiting.dueAt.getTime() === dueAt?.getTime())
      work.note(round.id, { ...waiting, dueAt: until })
  }

  /**
   * Rounds of this process that are due, longest due first, in a page for each tenant after `after`: at most
   * `tenantsMax`, and `roundsMax` rounds among them all.
   */
  async function findDue(
    now: Date,
    { after, tenantsMax, roundsMax }: { after: string; tenantsMax: number; roundsMax: number },
  ) {
    const due = work.due(now)
    const scopes = [...due.keys()]
      .filter((scope) => scope > after)
      .toSorted()
      .slice(0, tenantsMax)
    const share = Math.max(shareMin, Math.floor(roundsMax / Math.max(1, scopes.length)))
    const pages = await Promise.all(
      scopes.map(async (scope) => {
        const page = (due.get(scope) ?? []).slice(0, share)
        const found = await Promise.all(page.map(readDue))
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
  async function readDue(due: DueRound): Promise<StoredRound | null> {
    const { stream } = due.waiting
    const state = await readState(stream)
    const own = journal.instance()
    // A process that may count as dead has no round, and has them all again when it turns out to be alive.
    if (own === null) return null
    const isOthers = state.owner !== own && alive().includes(state.owner)
    const stored = isOthers ? null : storedOf(stream, state)
    if (stored !== null && hasWork(stored.round)) return stored
    work.dropDue(due)
    return null
  }

  /**
   * Resolves when lists show what this process knows of the round. Of one that is unfinished a document of
   * its status is enough: what else it shows is read from the journal.
   */
  async function show(roundId: string): Promise<void> {
    const met = streams.get(roundId)
    if (met === undefined || met.number === 0) return
    const { stream, number, status } = met
    if (status !== null && isUnfinished({ status }) && lists.listedStatus(roundId) === status) return
    await listed(stream, number)
  }

  /** Reads of list documents; those of unfinished rounds come from the journal. */
  function readLists() {
    const decode = async (documents: readonly RoundDocument[]): Promise<RoundState[]> => {
      const found = await Promise.all(documents.map(current))
      return found.flatMap((stored) => (stored === null ? [] : [stored.round]))
    }
    return {
      between: async (
        window: { readonly from: Date; readonly to: Date },
        after: string | null,
        limit: number,
      ) => decode(await lists.between(window, after, limit)),
      list: async (scope: Scope, filters: RoundFilters, page: { before: string | null; max: number }) =>
        decode(await lists.list(scope, filters, page)),
      listSequence: async (sequence: string, page: { below: number | null; max: number }) =>
        decode(await lists.listSequence(sequence, page)),
      listSums: (scope: Scope, playerId: string, page: { from: Date; max: number }): Promise<RoundSums[]> =>
        lists.listSums(scope, playerId, page),
      /** What became of the stakes of these rounds; a round that is gone is missing. */
      async charged(
        scope: Scope,
        roundIds: readonly string[],
      ): Promise<Pick<RoundState, 'id' | 'status' | 'stakes' | 'wins'>[]> {
        const found = await decode(await lists.withIds(scope, roundIds))
        return found.map(({ id, status, stakes, wins }) => ({ id, status, stakes, wins }))
      },
      endedSince: lists.endedSince,
      countUnfinished: lists.countUnfinished,
      unfinished: lists.unfinished,
    }
  }
}

function hasWork(round: RoundState): boolean {
  return isUnfinished(round) || owesSomething(round)
}

function playsIn({ driver, status, sessionId }: RoundState, session: string): boolean {
  return driver === 'game' && sessionId === session && (status === 'PENDING' || status === 'OPEN')
}

function factEntry({
  id,
  rounds,
  stakes,
  payouts,
  refunds,
  at,
  trials,
  rules = '',
}: NonNullable<RoundWrite['fact']>): FactEntry {
  const sums = { stakes: String(stakes), payouts: String(payouts), refunds: String(refunds) }
  return {
    ...{ id, rounds, ...sums },
    ...(at === undefined ? {} : { at }),
    ...(trials === undefined ? {} : { trials: { ...trials, rules } }),
  }
}

function unanswered(name: string): ServiceError {
  const cause = new Error(`it is not known whether an entry of ${name} stands`)
  return new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1, cause })
}
