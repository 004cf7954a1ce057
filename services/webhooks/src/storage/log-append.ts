import { packText } from '@pitboss/storage/packed'
import { type Scope, scopeKey } from '@pitboss/contracts/caller'
import type { EventType } from '@pitboss/contracts/objects/event'
import type { BoundedMap } from '@pitboss/runtime/bounded-map'
import { mapBounded } from '@pitboss/runtime/map-bounded'
import type { EventHeader, LogDocument, LoggedEvent } from './collections.ts'
import { isSameScope, logKey } from './log-keys.ts'

/*
 * The event log has one unique key: its `_id`, the number of an event within its account and environment.
 * Whoever inserts number n+1 has read all up to n: so numbers have no gaps, and no event is recorded twice
 * although no index forbids it. Three rules hold that. The end is read before the log is searched for the new
 * events, but for those that nobody can have recorded before (`mayBeRecorded`). The insert is ordered, so
 * that a failure leaves a prefix. What another recorder has inserted meanwhile is searched again before the
 * next number is tried.
 */

export type NewEvent = Omit<LoggedEvent, 'seq' | 'targets'> & {
  /** When its round or session was opened, if its own id follows from that; else null. */
  readonly openedAtMs: number | null
}

export type TargetsOf = (event: Pick<NewEvent, 'scope' | 'type'>) => readonly string[]

/** What is known of a recorded event when a message of it comes again. */
type RecordedEvent = Pick<EventHeader, 'id' | 'scope' | 'seq' | 'type'>

/** The last number of a log, and the latest `createdAt` so far; 0 for an empty log. */
export type LogEnd = { readonly seq: number; readonly highAt: Date }

type KnownEnd = LogEnd & { readonly floor: Floor }

/** The log's storage, as appends use it. All of it reads what a majority has. */
export type LogStore = {
  endOf(scope: Scope): Promise<LogEnd>
  withIds(ids: readonly string[]): Promise<readonly RecordedEvent[]>
  /** @returns how many stand, in order: fewer when the next number is taken @throws if unknown */
  insert(documents: readonly LogDocument[]): Promise<number>
}

export type LogWriter = {
  readonly store: LogStore
  /** The ends that this process wrote last, by scope, and when on the steady clock. */
  readonly ends: BoundedMap<string, KnownEnd & { readonly atMs: number }>
  readonly recent: RecentEvents
  readonly steadyMs: () => number
  readonly pause: (ms: number) => Promise<void>
}

export type Appended = {
  /** Recorded by this call, in the order given within a scope. */
  readonly recorded: readonly LoggedEvent[]
  /** Recorded before, or by another recorder meanwhile; by id. */
  readonly known: ReadonlyMap<string, RecordedEvent>
  /** Left out: another event has its id. */
  readonly refused: readonly NewEvent[]
}

const rareTypes: readonly EventType[] = ['game.session.created', 'transaction.failed', 'transaction.rollback']
const triesMax = 12
/** An end that was written longer ago is read again: somebody may have set the database back. */
const endMaxMs = 30_000
const pauseMs = 20
const scopesAtOnce = 8

/**
 * Records events of any scopes, none twice: one ordered insert, after a search for those that may be recorded
 * (while `readTargets` reads where they go to); again when another recorder was faster.
 * @throws Error when others were faster 12 times; what the database throws: what is recorded is then unknown
 */
export async function appendEvents(
  log: LogWriter,
  events: readonly NewEvent[],
  readTargets: () => Promise<TargetsOf>,
): Promise<Appended> {
  const { store, ends, recent } = log
  const recorded: Appended['recorded'][number][] = []
  const known = new Map<string, RecordedEvent>()
  const refused: NewEvent[] = []
  let open = [...Map.groupBy(events, ({ id }) => id).values()].flatMap(([first]) => first ?? [])
  for (let attempt = 0; open.length > 0; attempt++) {
    if (attempt >= triesMax) throw new Error('the end of the event log kept moving')
    if (attempt > 0) await log.pause(attempt * pauseMs)
    const before = await endsOf(log, open)
    const wanted = open.filter((one) => mayBeRecorded(recent, one, endIn(before, scopeKey(one.scope)).floor))
    const search = wanted.length === 0 ? [] : store.withIds(wanted.map(({ id }) => id))
    const [found, targetsOf] = await Promise.all([search, readTargets()])
    const fresh = numbered(withoutKnown(open, found, { known, refused }), before, targetsOf)
    // Until it is known what stands, the next append reads the end again.
    for (const { key } of fresh) ends.delete(key)
    const atMs = log.steadyMs()
    const count = fresh.length === 0 ? 0 : await store.insert(fresh.map(newLogDocument))
    for (const { event, end, targets } of fresh.slice(0, count)) {
      recorded.push({ ...event, seq: end.seq, targets })
      noteRecent(recent, event.id, end.floor, end.highAt.getTime())
    }
    open = fresh.slice(count).map(({ event }) => event)
    if (open.length === 0) for (const { key, end } of fresh) ends.set(key, { ...end, atMs })
  }
  return { recorded, known, refused }
}

/** Whether there are few events of a type among very many. */
export const isRare = (type: EventType) => rareTypes.includes(type)

/** The ends of the logs of these events, read where this process does not know them. */
async function endsOf(log: LogWriter, events: readonly NewEvent[]): Promise<Map<string, KnownEnd>> {
  const scopes = [...new Map(events.map(({ scope }) => [scopeKey(scope), scope]))]
  const found = await mapBounded(scopes, scopesAtOnce, async ([key, scope]): Promise<[string, KnownEnd]> => {
    const own = log.ends.get(key)
    if (own !== undefined && log.steadyMs() - own.atMs < endMaxMs) return [key, own]
    const end = await log.store.endOf(scope)
    return [key, { ...end, floor: { highMs: end.highAt.getTime() } }]
  })
  return new Map(found)
}

function endIn(ends: ReadonlyMap<string, KnownEnd>, key: string): KnownEnd {
  return ends.get(key) ?? { seq: 0, highAt: new Date(0), floor: { highMs: Number.POSITIVE_INFINITY } }
}

type Sorted = { readonly known: Map<string, RecordedEvent>; readonly refused: NewEvent[] }

/** Sorts out what is recorded. @returns the others */
function withoutKnown(events: readonly NewEvent[], found: readonly RecordedEvent[], sorted: Sorted) {
  const { known, refused } = sorted
  const byId = new Map(found.map((one) => [one.id, one]))
  return events.filter((event) => {
    const same = byId.get(event.id)
    if (same === undefined) return true
    if (same.type === event.type && isSameScope(same.scope, event.scope)) known.set(event.id, same)
    else refused.push(event)
    return false
  })
}

/** Numbers events after the ends of their logs, scope by scope. */
function numbered(events: readonly NewEvent[], before: ReadonlyMap<string, KnownEnd>, targetsOf: TargetsOf) {
  return [...Map.groupBy(events, ({ scope }) => scopeKey(scope))].flatMap(([key, ofScope]) => {
    let end = endIn(before, key)
    return ofScope.map((event) => {
      const highAt = event.createdAt > end.highAt ? event.createdAt : end.highAt
      end = { seq: end.seq + 1, highAt, floor: end.floor }
      return { key, event, end, targets: targetsOf(event) }
    })
  })
}

function newLogDocument({ event, end, targets }: ReturnType<typeof numbered>[number]): LogDocument {
  const { scope, id, type, roundId, traceparent } = event
  return {
    ...{ _id: logKey(scope, end.seq), e: id, t: type, ...(isRare(type) ? { x: type } : {}) },
    ...{ c: event.createdAt, h: end.highAt, ra: event.recordedAt },
    ...(roundId === null ? {} : { r: roundId }),
    ...(traceparent === undefined ? {} : { tp: traceparent }),
    ...{ targets, b: packText(event.body) },
  }
}

/*
 * Nearly every event that comes is new, and needs no search. No event is created before its round or session
 * is opened. So an event is not among those up to some number of its log if its round was opened after all of
 * these were created; and what follows that number, this process has recorded itself and remembers.
 */

/** Clocks of services, and an id and its object, differ by less. Source: ours. */
const apartMaxMs = 10_000
const eventsMax = 32_768

/** From where on a log's events are remembered: `highMs` is the latest creation time up to there. */
export type Floor = { highMs: number }

type Opened = Pick<NewEvent, 'id' | 'openedAtMs' | 'createdAt'>

/** What this process has recorded lately, by id, the oldest first. */
export type RecentEvents = Map<string, { readonly floor: Floor; readonly highMs: number }>

/** Whether the log is to be searched for the event; all that follows `floor` this process has recorded. */
export function mayBeRecorded(
  recent: RecentEvents,
  { id, openedAtMs, createdAt }: Opened,
  { highMs }: Floor,
) {
  // An id that names a time to come was not made here, and proves nothing.
  const isPlausible = openedAtMs !== null && openedAtMs <= createdAt.getTime() + apartMaxMs
  return !isPlausible || openedAtMs <= highMs + apartMaxMs || recent.has(id)
}

/** Remembers an event that this process has recorded. @param highMs the latest creation time up to it */
export function noteRecent(recent: RecentEvents, id: string, floor: Floor, highMs: number): void {
  recent.set(id, { floor, highMs })
  for (const [oldest, one] of recent) {
    if (recent.size <= eventsMax) return
    recent.delete(oldest)
    one.floor.highMs = Math.max(one.floor.highMs, one.highMs)
  }
}
