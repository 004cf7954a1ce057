import type { AuditEntry } from '@pitboss/contracts/audit'
import { tryAgain } from '@pitboss/errors/service-error'
import type { BoundedMap } from '@pitboss/runtime/bounded-map'
import type { RenderedEvent } from '../rendered-event.ts'
import { claimAgain, claimDocument, isWithdrawn, othersAmong, removeClaims, standingAmong } from './claims.ts'
import type { Landed } from './group-commit.ts'
import type { NewListDocument } from './list-documents.ts'
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
  readonly ev?: readonly RenderedEvent[]
  /** A person's order. */
  readonly au?: AuditEntry
  /**
   * The number of the entry that this one withdraws: claims of that entry's write are free again. Without
   * facts it says that the other one lost a claim, and never counted.
   */
  readonly wd?: number
}

/** A claim that stands: whose insert came first has it. */
export type ClaimDocument = {
  readonly _id: string
  readonly w: string
  readonly s: StreamKey
  /** The number of its entry in that stream. */
  readonly n: number
  readonly at: Date
}

/** A key that the entry's write takes along. */
export type Claim = { readonly key: string; readonly fields?: Readonly<Record<string, unknown>> }

export type JournalDocument<Fact> = Entry<Fact> | ClaimDocument

/** The collection, as the journal uses it: inserts, reads by key, and the removal of one's own claims. */
export type JournalStore<Fact> = {
  /** @param lists inserted right after the documents and only where all of these are; perhaps not at all */
  insert(
    documents: readonly JournalDocument<Fact>[],
    untilMs: number,
    lists?: readonly NewListDocument[],
  ): Promise<readonly Landed[] | 'unknown'>
  /** A stream's entries in order, as a majority has them. */
  readEntries(stream: StreamKey): Promise<readonly Entry<Fact>[]>
  /** The documents with these ids that stand, as a majority has them. */
  read(ids: readonly string[]): Promise<readonly JournalDocument<Fact>[]>
  /** Claims between two ids, both exclusive, the highest first, as a majority has them. */
  readClaims(range: ClaimRange, max: number): Promise<readonly ClaimDocument[]>
  /** Entries of instance `o` whose running numbers are above `after`, in their order, at most `limit`. */
  readWritten(
    o: string,
    page: { readonly after: number; readonly limit: number },
  ): Promise<readonly Entry<Fact>[]>
  /** Removes a claim of the write `w`, and no other. */
  removeClaim(id: string, w: string): Promise<void>
}

/** A stream as it was last seen. */
export type Loaded<Fact> = {
  /** Without their events, which nothing folds, and without those that lost a claim. */
  readonly entries: readonly Entry<Fact>[]
  /**
   * The entries from the first one on whose claims are not all there as their own: nobody acts on them, and
   * nobody appends after them before that is decided.
   */
  readonly unclaimed: readonly Entry<Fact>[]
  /** The number after which an entry can be appended; 0 for a stream that has none. */
  readonly last: number
  /** The number of the last entry; greater than `last` where some are unclaimed. */
  readonly end: number
  /** Of the steady clock: before the read or the write that this is known from. */
  readonly seenMs: number
}

/** An instance and its next running number. */
export type Writer = { readonly o: string; readonly q: number }

/** Whether an entry stands, another has its number, or neither is known yet. */
export type Fate = 'stands' | 'taken' | 'unknown'

export type Journal<Fact> = {
  readonly store: JournalStore<Fact>
  /** Streams that this process has read or written lately. */
  readonly memory: BoundedMap<StreamKey, Loaded<Fact>>
  /** Needed where entries have claims. */
  readonly claims?: {
    /** The claims that an entry was written with. */
    of(entry: Entry<Fact>): readonly Claim[]
    /** Writes whose claims are known to be their own. */
    readonly known: BoundedMap<string, true>
  }
  /**
   * The instance under which this process writes, and its next number, from 1. While this process counts as
   * dead it waits for the next instance, till `untilMs` at the latest: null then.
   */
  readonly nextWriter: (untilMs: number) => Promise<Writer | null>
  /** The instance that this process is, as long as nobody can have judged it dead; null else. */
  readonly instance: () => string | null
  /** What lists show of a stream once it has this entry, where these documents can go out with it. */
  newLists?(stream: StreamKey, entry: Entry<Fact>): readonly NewListDocument[]
  /** Takes note of an entry's fate, once for each number that `nextWriter` gave. */
  settled(entry: Entry<Fact>, fate: Fate): void
  /** 8 random bytes in hex. */
  readonly newWrite: () => string
  readonly now: () => Date
  /** Milliseconds of a clock that never jumps. */
  readonly steadyMs: () => number
  readonly pause: (ms: number) => Promise<void>
}

export type Decided<Fact> = {
  readonly facts: readonly [Fact, ...Fact[]]
  /** Not together with claims: an entry whose claims may be another's says nothing to the outside. */
  readonly events?: readonly RenderedEvent[]
  /** What the entry needs for itself; when one of them is another's, the entry counts for nobody. */
  readonly claims?: readonly Claim[]
  /** The entry that this one takes back, and its claims, which become free. */
  readonly withdraws?: { readonly entry: Entry<Fact>; readonly claims: readonly Claim[] }
  readonly audit?: AuditEntry
}

export type Appended<Fact> =
  | { readonly kind: 'appended'; readonly entry: Entry<Fact> }
  /** Somebody else has that number: load and decide anew. */
  | { readonly kind: 'taken' }
  /** A claim is another's; the entry is void, its own claims are removed. */
  | { readonly kind: 'claimed'; readonly claim: ClaimDocument }
  /**
   * It may stand, or land later: the deadline has passed, or this process may have been judged dead
   * meanwhile. Do not act on it. What stands is taken over, by this process or by another one.
   */
  | { readonly kind: 'unknown' }

/** What was decided on an older view is not acted on. */
export const viewMaxMs = 30_000
const triesMax = 12
/** Between two looks at an entry whose claims are on their way. */
const undecidedMs = 100

/**
 * Appends one entry after entry `after` of the stream, with the claims that it needs, in the process's next
 * insert. Nobody may act on the entry before this says `appended`: then it and all its claims are this
 * write's.
 * @param untilMs of the steady clock
 * @throws what the store throws for a read; the entry's fate is unknown then, too
 */
export function append<Fact>(
  journal: Journal<Fact>,
  stream: StreamKey,
  after: number,
  decided: Decided<Fact>,
  untilMs: number,
): Promise<Appended<Fact>> {
  return appendOne(journal, stream, after, decided, untilMs)
}

type Content<Fact> = Omit<Decided<Fact>, 'facts'> & { readonly facts: readonly Fact[] }

async function appendOne<Fact>(
  journal: Journal<Fact>,
  stream: StreamKey,
  after: number,
  decided: Content<Fact>,
  untilMs: number,
): Promise<Appended<Fact>> {
  const { events = [], claims = [] } = decided
  if (claims.length > 0 && events.length > 0) throw new Error(`${stream} claims in an entry with events`)
  const startedMs = journal.steadyMs()
  const writer = await journal.nextWriter(untilMs)
  if (writer === null) return { kind: 'unknown' }
  const entry = entryOf(journal, entryId(stream, after + 1), writer, decided)
  let fate: Fate = 'unknown'
  try {
    const answer = await insertEntry(journal, stream, entry, decided, untilMs)
    // An entry that lost a claim brings no duties, as one whose number another has.
    if (answer.kind === 'taken' || answer.kind === 'claimed') fate = 'taken'
    // Who may have been judged dead does not act on what stands: it is taken over, here or elsewhere.
    if (answer.kind === 'appended' && journal.instance() !== entry.o) return { kind: 'unknown' }
    if (answer.kind === 'appended') fate = 'stands'
    if (answer.kind !== 'appended') return answer
    if (claims.length > 0) journal.claims?.known.set(entry.w, true)
    remember(journal, stream, entry, startedMs)
    return answer
  } finally {
    journal.settled(entry, fate)
  }
}

function entryOf<Fact>(
  journal: Journal<Fact>,
  _id: string,
  { o, q }: Writer,
  { facts, events = [], withdraws, audit }: Content<Fact>,
): Entry<Fact> {
  return {
    _id,
    w: journal.newWrite(),
    o,
    q,
    at: journal.now(),
    f: facts,
    ...(events.length === 0 ? {} : { ev: events }),
    ...(audit === undefined ? {} : { au: audit }),
    ...(withdraws === undefined ? {} : { wd: entryNumber(withdraws.entry._id) }),
  }
}

async function insertEntry<Fact>(
  journal: Journal<Fact>,
  stream: StreamKey,
  entry: Entry<Fact>,
  { claims = [], withdraws }: Content<Fact>,
  untilMs: number,
): Promise<Appended<Fact>> {
  const { store } = journal
  const claimed = claims.map((claim) => claimDocument(claim, stream, entry))
  const isWhole = claimed.length === 0 && withdraws === undefined
  const lists = isWhole ? journal.newLists?.(stream, entry) : []
  const landed = await store.insert([entry, ...claimed], untilMs, lists)
  if (landed === 'unknown') return { kind: 'unknown' }
  const others = await othersAmong(store, [entry, ...claimed], landed)
  if (others.has(entry._id)) {
    outdate(journal, stream, entryNumber(entry._id))
    await removeClaims(
      store,
      claimed.filter(({ _id }) => !others.has(_id)),
    )
    return { kind: 'taken' }
  }
  const lost = await claimAgain(
    journal,
    claimed.filter(({ _id }) => others.has(_id)),
    untilMs,
  )
  if (lost === 'unknown') return { kind: 'unknown' }
  if (lost !== null) {
    const isVoid = await voidEntry(journal, stream, { entry, claims }, entry, untilMs)
    return isVoid !== null || isWithdrawn(entry, await store.readEntries(stream))
      ? { kind: 'claimed', claim: lost }
      : { kind: 'unknown' }
  }
  // A claim that was lost and is free again may count as lost for a process that took the stream over since.
  const isAgain = landed.slice(1).includes('present')
  if (isAgain && !(await isLast(journal, stream, entry))) return { kind: 'unknown' }
  if (withdraws !== undefined)
    await removeClaims(
      store,
      withdraws.claims.map((claim) => claimDocument(claim, stream, withdraws.entry)),
    )
  return { kind: 'appended', entry }
}

/**
 * Records that an entry lost a claim, so that it counts for nobody, and gives its other claims back: by the
 * entry right after `own`, the last one of the process that decides. A process that took the stream over
 * since is the only one to decide, because a claim that was lost may be free again.
 * @returns the entry that says so; null when it does not stand, or when that is not known
 */
async function voidEntry<Fact>(
  journal: Journal<Fact>,
  stream: StreamKey,
  withdraws: { readonly entry: Entry<Fact>; readonly claims: readonly Claim[] },
  own: Entry<Fact>,
  untilMs: number,
): Promise<Entry<Fact> | null> {
  const content = { facts: [], withdraws }
  const ended = await appendOne(journal, stream, entryNumber(own._id), content, untilMs)
  return ended.kind === 'appended' ? ended.entry : null
}

/** Whether nobody has taken the stream over since this entry, nor appended anything else. */
async function isLast<Fact>(
  { store }: Journal<Fact>,
  stream: StreamKey,
  { _id, w }: Entry<Fact>,
): Promise<boolean> {
  const last = (await store.readEntries(stream)).at(-1)
  return last?._id === _id && last.w === w
}

/**
 * Takes a stream over whose owner is dead: appends `adopted`, which fences what the owner may still have on
 * the wire, and only then inserts the claims of its entries again, with those entries' own `w`. Each is then
 * the stream's or another's for ever, so that what was on the wire decides nothing any more; an entry that
 * lost one counts for nobody.
 * @param claimsOf the claims that an entry was written with; none for one without, such as `adopted`
 * @param alsoOf further facts of the same entry, from the entries before it; claims of those may be missing
 */
export async function adopt<Fact>(
  journal: Journal<Fact>,
  stream: StreamKey,
  {
    adopted,
    claimsOf,
    alsoOf = async () => [],
  }: {
    adopted: Fact
    claimsOf: (entry: Entry<Fact>) => readonly Claim[]
    alsoOf?: (entries: readonly Entry<Fact>[]) => Promise<readonly Fact[]>
  },
  untilMs: number,
): Promise<Exclude<Appended<Fact>, { kind: 'claimed' }>> {
  const { entries, unclaimed, end } = await load(journal, stream)
  const all = [...entries, ...unclaimed]
  if (all.length === 0) return { kind: 'taken' }
  const facts = [adopted, ...(await alsoOf(all))] as const
  const appended = await append(journal, stream, end, { facts }, untilMs)
  if (appended.kind === 'claimed') throw new Error(`${stream} has lost a claim by an entry without any`)
  if (appended.kind !== 'appended') return appended
  let own = appended.entry
  let hasClaims = false
  for (const entry of all.filter((one) => !isWithdrawn(one, all))) {
    const claims = claimsOf(entry)
    if (claims.length === 0) continue
    hasClaims = true
    const documents = claims.map((claim) => claimDocument(claim, stream, entry))
    const lost = await claimAgain(journal, documents, untilMs)
    if (lost === 'unknown') return { kind: 'unknown' }
    if (lost === null) continue
    const ended = await voidEntry(journal, stream, { entry, claims }, own, untilMs)
    if (ended === null) return { kind: 'unknown' }
    own = ended
  }
  // A process that has appended since found each of them decided, or decides it: the stream is its own.
  if (hasClaims && !(await isLast(journal, stream, own))) return { kind: 'taken' }
  // What was not known to be its own before is read again.
  if (unclaimed.length > 0) outdate(journal, stream, entryNumber(own._id))
  return appended
}

/** A stream: from memory if this process saw it less than 30 s ago, else by one range read. */
export async function load<Fact>(journal: Journal<Fact>, stream: StreamKey): Promise<Loaded<Fact>> {
  const remembered = journal.memory.get(stream)
  if (remembered !== undefined && isFresh(journal, remembered)) return remembered
  const seenMs = journal.steadyMs()
  const entries = await journal.store.readEntries(stream)
  const standing = standingAmong(entries).map(withoutEvents)
  const [open] = await unclaimedAmong(journal, standing)
  const end = lastOf(entries)
  // What this process has appended or met meanwhile is newer than what it has read.
  const newer = journal.memory.get(stream)
  if (newer !== undefined && newer.end > end) {
    if (newer.last === newer.end) return newer
    // A read that began later and does not see it either is of a database that was set back.
    if (newer !== remembered) return load(journal, stream)
  }
  const last = open === undefined ? end : entryNumber(open._id) - 1
  const known = standing.filter(({ _id }) => entryNumber(_id) <= last)
  const loaded = { entries: known, unclaimed: standing.slice(known.length), last, end, seenMs }
  // A claim that is on its way is there a moment later.
  if (open === undefined) journal.memory.set(stream, loaded)
  return loaded
}

/** As `load`, past the memory: a stream as a majority has it now. */
export function reload<Fact>(journal: Journal<Fact>, stream: StreamKey): Promise<Loaded<Fact>> {
  outdate(journal, stream, 0)
  return load(journal, stream)
}

/** Finds the entries whose claims are not all their own: such an entry counts for nobody, not even here. */
async function unclaimedAmong<Fact>(
  journal: Journal<Fact>,
  entries: readonly Entry<Fact>[],
): Promise<readonly Entry<Fact>[]> {
  const { claims } = journal
  if (claims === undefined) return []
  const open = entries.filter(
    (entry) =>
      claims.known.get(entry.w) === undefined && claims.of(entry).length > 0 && !isWithdrawn(entry, entries),
  )
  if (open.length === 0) return []
  const keysOf = (entry: Entry<Fact>) => claims.of(entry).map(({ key }) => key)
  const read = await journal.store.read(open.flatMap(keysOf))
  const owners = new Map(read.map(({ _id, w }) => [_id, w]))
  return open.filter((entry) => {
    const isOwn = keysOf(entry).every((key) => owners.get(key) === entry.w)
    if (isOwn) claims.known.set(entry.w, true)
    return !isOwn
  })
}

function withoutEvents<Fact>({ ev: _, ...entry }: Entry<Fact>): Entry<Fact> {
  return entry
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
    if (loaded.unclaimed.length > 0) {
      await journal.pause(undecidedMs)
      continue
    }
    const appended = await append(journal, stream, loaded.last, decided, untilMs)
    if (appended.kind === 'taken') continue
    if (appended.kind !== 'appended') return appended
    const { entry } = appended
    if (isFresh(journal, loaded)) return { kind: 'changed', state: evolve(state, entry), entry }
    // Others may have gone on while this process stood still: what stands now is the state.
    return { kind: 'changed', state: stateOf(await reload(journal, stream)), entry }
  }
  throw tryAgain(`${stream} kept changing`)
}

function remember<Fact>(journal: Journal<Fact>, stream: StreamKey, entry: Entry<Fact>, seenMs: number): void {
  const number = entryNumber(entry._id)
  const before = journal.memory.get(stream) ?? { entries: [], last: 0 }
  if (before.last !== number - 1 || entry.f.length === 0) return outdate(journal, stream, number)
  const entries = [...before.entries, withoutEvents(entry)]
  journal.memory.set(stream, { entries, unclaimed: [], last: number, end: number, seenMs })
}

/** Remembers of a stream only that it has an entry `number`: what a read does not see of that is not kept. */
function outdate<Fact>({ memory }: Journal<Fact>, stream: StreamKey, number: number): void {
  const end = Math.max(number, memory.get(stream)?.end ?? 0)
  memory.set(stream, { entries: [], unclaimed: [], last: -1, end, seenMs: Number.NEGATIVE_INFINITY })
}

function isFresh<Fact>(journal: Journal<Fact>, { seenMs }: Loaded<Fact>): boolean {
  return journal.steadyMs() - seenMs < viewMaxMs
}

function lastOf<Fact>(entries: readonly Entry<Fact>[]): number {
  const last = entries.at(-1)
  return last === undefined ? 0 : entryNumber(last._id)
}
