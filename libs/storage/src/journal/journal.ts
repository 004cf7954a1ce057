import type { AuditEntry } from '@pitboss/contracts/audit'
import { ServiceError } from '@pitboss/errors/service-error'
import type { BoundedMap } from '@pitboss/runtime/bounded-map'
import type { OutboxEntry } from '../outbox-entry.ts'
import { claimAgain, claimDocument, othersAmong, removeClaims } from './claims.ts'
import type { Landed } from './group-commit.ts'
import { type ClaimRange, entryId, entryNumber, type StreamKey } from './journal-keys.ts'

/** What happened, in one write: never changed, and kept as long as its stream. */
export type Entry<Fact> = {
  /** `<stream>/<number>`: the number is the fence, since one insert alone can have it. */
  readonly _id: string
  /** This very write: 8 random bytes in hex. */
  readonly w: string
  /** Who wrote it, and its running number there. */
  readonly o: string
  readonly q: number
  readonly at: Date
  /** Folded by `evolve`. */
  readonly f: readonly Fact[]
  readonly ev?: readonly OutboxEntry[]
  /** A person's order. */
  readonly au?: AuditEntry
}

/** A claim that stands: whose insert came first has it. */
export type ClaimDocument = {
  readonly _id: string
  readonly w: string
  readonly s: StreamKey
  readonly at: Date
}

/** A key that the entry's write takes along. */
export type Claim = { readonly key: string; readonly fields?: Readonly<Record<string, unknown>> }

export type JournalDocument<Fact> = Entry<Fact> | ClaimDocument

/** The collection, as the journal uses it: inserts, reads by key, and the removal of one's own claims. */
export type JournalStore<Fact> = {
  insert(documents: readonly JournalDocument<Fact>[], untilMs: number): Promise<readonly Landed[] | 'unknown'>
  /** A stream's entries in order, as a majority has them. */
  readEntries(stream: StreamKey): Promise<readonly Entry<Fact>[]>
  /** The documents with these ids that stand, as a majority has them. */
  read(ids: readonly string[]): Promise<readonly JournalDocument<Fact>[]>
  /** Claims between two ids, both exclusive, the highest first, as a majority has them. */
  readClaims(range: ClaimRange, max: number): Promise<readonly ClaimDocument[]>
  /** Removes a claim of the write `w`, and no other. */
  removeClaim(id: string, w: string): Promise<void>
}

/** A stream as it was last seen. */
export type Loaded<Fact> = {
  readonly entries: readonly Entry<Fact>[]
  /** The number of the last entry; 0 for a stream that has none. */
  readonly last: number
  /** Of the steady clock: of the read, or of the last acknowledged write. */
  readonly seenMs: number
}

export type Journal<Fact> = {
  readonly store: JournalStore<Fact>
  /** Streams that this process has read or written lately. */
  readonly memory: BoundedMap<StreamKey, Loaded<Fact>>
  /** This process, from its start to its end. */
  readonly instance: string
  /** The next running number of this instance, from 1. */
  readonly nextNumber: () => number
  /** 8 random bytes in hex. */
  readonly newWrite: () => string
  readonly now: () => Date
  /** Milliseconds of a clock that never jumps. */
  readonly steadyMs: () => number
  readonly pause: (ms: number) => Promise<void>
}

export type Decided<Fact> = {
  readonly facts: readonly [Fact, ...Fact[]]
  readonly events?: readonly OutboxEntry[]
  /** What the entry needs for itself; it is withdrawn when one of them is another's. */
  readonly claims?: readonly Claim[]
  /** The fact that withdraws it; needed with claims. */
  readonly withdrawn?: Fact
  readonly audit?: AuditEntry
}

export type Appended<Fact> =
  | { readonly kind: 'appended'; readonly entry: Entry<Fact> }
  /** Somebody else has that number: load and decide anew. */
  | { readonly kind: 'taken' }
  /** A claim is another's; the entry was withdrawn, its own claims are removed. */
  | { readonly kind: 'claimed'; readonly claim: ClaimDocument }
  /** The deadline has passed; it may stand, or land later. */
  | { readonly kind: 'unknown' }

/** What was decided on an older view is not acted on. */
export const viewMaxMs = 30_000
const triesMax = 12

/**
 * Appends one entry after entry `after` of the stream, with the claims that it needs, in the process's next
 * insert. Nobody may act on the entry before this says `appended`: then it and all its claims are this write's.
 * @param untilMs of the steady clock
 * @throws what the store throws for a read
 */
export async function append<Fact>(
  journal: Journal<Fact>,
  stream: StreamKey,
  after: number,
  { facts, events, claims = [], withdrawn, audit }: Decided<Fact>,
  untilMs: number,
): Promise<Appended<Fact>> {
  const { store } = journal
  const w = journal.newWrite()
  const at = journal.now()
  const entry: Entry<Fact> = {
    _id: entryId(stream, after + 1),
    w,
    o: journal.instance,
    q: journal.nextNumber(),
    at,
    f: facts,
    ...(events === undefined ? {} : { ev: events }),
    ...(audit === undefined ? {} : { au: audit }),
  }
  const claimed = claims.map((claim) => claimDocument(claim, { w, s: stream, at }))
  const landed = await store.insert([entry, ...claimed], untilMs)
  if (landed === 'unknown') return { kind: 'unknown' }
  const others = await othersAmong(store, [entry, ...claimed], landed)
  const own = claimed.filter(({ _id }) => !others.has(_id))
  if (others.has(entry._id)) {
    journal.memory.delete(stream)
    await removeClaims(store, own)
    return { kind: 'taken' }
  }
  const lost = await claimAgain(
    journal,
    claimed.filter(({ _id }) => others.has(_id)),
    untilMs,
  )
  if (lost === 'unknown') return { kind: 'unknown' }
  if (lost === null) {
    remember(journal, stream, entry)
    return { kind: 'appended', entry }
  }
  if (withdrawn === undefined) throw new Error(`${stream} claims without a fact that withdraws`)
  const ended = await append(journal, stream, after + 1, { facts: [withdrawn] }, untilMs)
  if (ended.kind !== 'appended') return ended
  await removeClaims(store, claimed)
  return { kind: 'claimed', claim: lost }
}

/**
 * Takes a stream over whose owner is dead: appends `adopted`, which fences what the owner may still have on the
 * wire, and only then inserts the claims of its first entry again, with that entry's own `w`. Each is then the
 * stream's or another's for ever, so that what was on the wire decides nothing any more.
 * @param claimsOf the claims that an entry was written with
 * @returns `claimed` when one is another's: the stream has to be withdrawn by the caller's own next entry
 */
export async function adopt<Fact>(
  journal: Journal<Fact>,
  stream: StreamKey,
  { adopted, claimsOf }: { adopted: Fact; claimsOf: (entry: Entry<Fact>) => readonly Claim[] },
  untilMs: number,
): Promise<Appended<Fact>> {
  const loaded = await load(journal, stream)
  const [intent] = loaded.entries
  if (intent === undefined) return { kind: 'taken' }
  const appended = await append(journal, stream, loaded.last, { facts: [adopted] }, untilMs)
  if (appended.kind !== 'appended') return appended
  const { w, at } = intent
  const claims = claimsOf(intent).map((claim) => claimDocument(claim, { w, s: stream, at }))
  const lost = await claimAgain(journal, claims, untilMs)
  if (lost === 'unknown') return { kind: 'unknown' }
  return lost === null ? appended : { kind: 'claimed', claim: lost }
}

/** A stream: from memory if this process saw it less than 30 s ago, else by one range read. */
export async function load<Fact>(journal: Journal<Fact>, stream: StreamKey): Promise<Loaded<Fact>> {
  const known = journal.memory.get(stream)
  if (known !== undefined && isFresh(journal, known)) return known
  const seenMs = journal.steadyMs()
  const entries = await journal.store.readEntries(stream)
  const loaded = { entries, last: lastOf(entries), seenMs }
  journal.memory.set(stream, loaded)
  return loaded
}

export type Changed<State, Fact> =
  | { readonly kind: 'changed'; readonly state: State; readonly entry: Entry<Fact> }
  | { readonly kind: 'unchanged'; readonly state: State }
  | { readonly kind: 'claimed'; readonly claim: ClaimDocument }
  | { readonly kind: 'unknown' }

/**
 * Loads, decides, appends; anew when somebody else was first.
 * @param decide gets the state and says what happened; null for nothing
 * @throws ServiceError SERVICE_UNAVAILABLE when others were first 12 times
 */
export async function change<State, Fact>(
  journal: Journal<Fact>,
  stream: StreamKey,
  {
    none,
    evolve,
    decide,
  }: {
    /** The state of a stream that has no entry. */
    none: State
    evolve: (state: State, entry: Entry<Fact>) => State
    decide: (state: State) => Decided<Fact> | null
  },
  untilMs: number,
): Promise<Changed<State, Fact>> {
  const stateOf = ({ entries }: Loaded<Fact>) => entries.reduce(evolve, none)
  for (let tries = 0; tries < triesMax; tries++) {
    const loaded = await load(journal, stream)
    const state = stateOf(loaded)
    const decided = decide(state)
    if (decided === null) return { kind: 'unchanged', state }
    const appended = await append(journal, stream, loaded.last, decided, untilMs)
    if (appended.kind === 'taken') continue
    if (appended.kind !== 'appended') return appended
    const { entry } = appended
    if (isFresh(journal, loaded)) return { kind: 'changed', state: evolve(state, entry), entry }
    // Others may have gone on while this process stood still: what stands now is the state.
    journal.memory.delete(stream)
    return { kind: 'changed', state: stateOf(await load(journal, stream)), entry }
  }
  throw new ServiceError('SERVICE_UNAVAILABLE', {
    retryAfterS: 1,
    cause: new Error(`${stream} kept changing`),
  })
}

function remember<Fact>(journal: Journal<Fact>, stream: StreamKey, entry: Entry<Fact>): void {
  const known = journal.memory.get(stream)
  const number = entryNumber(entry._id)
  const before = known ?? { entries: [], last: 0 }
  if (before.last !== number - 1) return journal.memory.delete(stream)
  const entries = [...before.entries, entry]
  journal.memory.set(stream, { entries, last: number, seenMs: journal.steadyMs() })
}

function isFresh<Fact>(journal: Journal<Fact>, { seenMs }: Loaded<Fact>): boolean {
  return journal.steadyMs() - seenMs < viewMaxMs
}

function lastOf<Fact>(entries: readonly Entry<Fact>[]): number {
  const last = entries.at(-1)
  return last === undefined ? 0 : entryNumber(last._id)
}
