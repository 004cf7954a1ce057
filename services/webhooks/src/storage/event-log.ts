import { unpackText } from '@pitboss/storage/packed'
import { setTimeout as pause } from 'node:timers/promises'
import { type Scope, scopeKey } from '@pitboss/contracts/caller'
import type { EventType } from '@pitboss/contracts/objects/event'
import { BoundedMap } from '@pitboss/runtime/bounded-map'
import { insertOrdered } from '@pitboss/storage/journal/insert-together'
import type { Collection, Filter, FindOptions } from 'mongodb'
import type { Collections, EventHeader, LogDocument, LoggedEvent } from './collections.ts'
import { createdIn, openFirstEvents } from './first-events.ts'
import type { LogEnd, LogWriter, NewEvent, TargetsOf } from './log-append.ts'
import { appendEvents, isRare } from './log-append.ts'
import { isSameScope, keysAfter, logKey, readLogKey } from './log-keys.ts'
import { createSeqSearch } from './seq-search.ts'

/** What of a log is wanted. Null for all types, and for an open end of the window of creation times. */
export type EventWindow = {
  readonly types: readonly EventType[] | null
  readonly from: Date | null
  readonly to: Date | null
}

export type EventLog = Awaited<ReturnType<typeof openEventLog>>

type LastEvent = Pick<EventHeader, 'seq' | 'recordedAt'> & { readonly id: string | null }

/** A place in the log, the event there and when it was recorded; earlier cursors lack the latter two. */
type ReadUpTo = { readonly seq: number; readonly id?: string | undefined; readonly at?: number | undefined }

type Page = [scope: Scope, afterSeq: number, limit: number, window?: EventWindow]

/** An endpoint that has passed its log up to `afterSeq`. */
type WebhookPlace = Scope & { readonly webhookId: string; readonly afterSeq: number }

const everything: EventWindow = { types: null, from: null, to: null }
const projection = { b: 0 } as const
const scopesMax = 10_000

/** Opens the event log: the collection `log`, and before it the events of the first format. */
export async function openEventLog(collections: Pick<Collections, 'log' | 'events'>) {
  const { log } = collections
  const first = await openFirstEvents(collections.events)
  const firstEnds = new BoundedMap<string, LogEnd>(scopesMax)

  /** The end of a scope's first events, which never changes. */
  async function firstEndOf(scope: Scope): Promise<LogEnd> {
    const key = scopeKey(scope)
    const end = firstEnds.get(key) ?? (await first.endOf(scope)) ?? { seq: 0, highAt: new Date(0) }
    firstEnds.set(key, end)
    return end
  }

  async function endOf(scope: Scope): Promise<LogEnd> {
    const last = await log.findOne({ _id: keysAfter(scope, 0) }, { sort: { _id: -1 }, projection: { h: 1 } })
    return last === null ? firstEndOf(scope) : { seq: readLogKey(last._id).seq, highAt: last.h }
  }

  /** The recorded ones of `ids`, of every account. */
  async function withIds<Event>(ids: readonly string[], { eventOf, options }: Shape<Event>) {
    if (ids.length === 0) return []
    const late = await log.find({ e: { $in: [...ids] } }, options).toArray()
    const found = new Set(late.map(({ e }) => e))
    return [...late.map(eventOf), ...(await first.ofIds(ids.filter((id) => !found.has(id))))]
  }

  const recordedOf = ({ _id, e: id, t: type }: LogDocument) => ({ id, type, ...readLogKey(_id) })
  const writer: LogWriter = {
    store: {
      endOf,
      withIds: (ids) => withIds(ids, { eventOf: recordedOf, options: { projection: { e: 1, t: 1 } } }),
      insert: (documents) => insertOrdered(log, documents),
    },
    ...{ ends: new BoundedMap(scopesMax), recent: new Map(), steadyMs: () => performance.now(), pause },
  }
  const searchSeq = createSeqSearch(async (scope, seq) => {
    const from = { ...keysAfter(scope, 0), $gte: logKey(scope, seq) }
    const next = await log.findOne({ _id: from }, { sort: { _id: 1 }, projection: { h: 1 } })
    return next === null ? null : { seq: readLogKey(next._id).seq, highAt: next.h }
  })

  async function pageOf<Event>(page: Page, { eventOf, options }: Shape<Event>) {
    const [scope, afterSeq, limit, window = everything] = page
    const isEarly = afterSeq < (await firstEndOf(scope)).seq
    const early = isEarly ? await first.readAfter(scope, afterSeq, limit, window) : []
    const left = limit - early.length
    const late = left === 0 ? [] : await pageOfLog(log, [scope, afterSeq, left, window], options)
    return [...early, ...late.map(eventOf)]
  }

  return {
    append: (events: readonly NewEvent[], readTargets: () => Promise<TargetsOf>) =>
      appendEvents(writer, events, readTargets),

    endOf: async (scope: Scope): Promise<number> => (await endOf(scope)).seq,

    /** The last event; its id is null where it is none of the log. */
    async lastOf(scope: Scope): Promise<LastEvent> {
      const last = await log.findOne({ _id: keysAfter(scope, 0) }, { sort: { _id: -1 }, projection })
      if (last !== null) return headerOf(last)
      return { id: null, recordedAt: new Date(0), seq: (await firstEndOf(scope)).seq }
    },

    /**
     * The number up to which the log stands as who had read up to an event saw it: that event's, or where a
     * restored log has given its number to another, that of the last one recorded before it.
     */
    async standing(scope: Scope, { seq, id, at }: ReadUpTo, last: LastEvent): Promise<number> {
      if (id === undefined || at === undefined) return seq
      const isIt = (one: LastEvent) => one.seq === seq && one.id === id && one.recordedAt.getTime() === at
      if (isIt(last)) return seq
      const firstEnd = await firstEndOf(scope)
      if (seq <= firstEnd.seq) return seq
      const there = await log.findOne({ _id: logKey(scope, seq) }, { projection })
      if (there !== null && isIt(headerOf(there))) return seq
      const before = { _id: { ...keysAfter(scope, 0), $lt: logKey(scope, seq) }, ra: { $lte: new Date(at) } }
      const kept = await log.findOne(before, { sort: { _id: -1 }, projection: { _id: 1 } })
      return kept === null ? firstEnd.seq : readLogKey(kept._id).seq
    },

    endOfFirst: async (scope: Scope): Promise<number> => (await firstEndOf(scope)).seq,

    /** The number before the first event created at `from` or later: by the latest creation time so far. */
    async seqBefore(scope: Scope, from: Date): Promise<number> {
      // The end is read first: events recorded meanwhile must come after the answer, not before it.
      const end = await endOf(scope)
      if (end.highAt < from) return end.seq
      const firstEnd = await firstEndOf(scope)
      if (firstEnd.highAt >= from) return first.seqBefore(scope, from)
      return searchSeq(scope, from, { after: firstEnd.seq, to: end.seq })
    },

    /** Events after `afterSeq` in recording order, at most `limit`. */
    readAfter: (...page: Page): Promise<LoggedEvent[]> => pageOf(page, whole),

    /** `readAfter` without the bodies. */
    headersAfter: (...page: Page): Promise<EventHeader[]> => pageOf(page, headers),

    /** Events for an endpoint after `afterSeq`, the newest first: of this type, recorded until `to`. */
    newestFor(webhook: WebhookPlace, type: EventType | null, to: Date | null): AsyncIterable<EventHeader> {
      const ofType = type === null ? {} : { t: type }
      const filter = { ...eventsFor(webhook), ...ofType, ...(to === null ? {} : { ra: { $lte: to } }) }
      return log.find(filter, { projection, sort: { _id: -1 } }).map(headerOf)
    },

    /** How many events of these types there are for an endpoint, at most `max`, and the first one. */
    async countFor(webhook: WebhookPlace, types: readonly EventType[], max: number) {
      const wanted = { ...eventsFor(webhook), ...(types.length === 0 ? {} : { t: { $in: [...types] } }) }
      const first = log.findOne(wanted, { projection, sort: { _id: 1 } })
      const [count, oldest] = await Promise.all([log.countDocuments(wanted, { limit: max }), first])
      return { count, first: oldest && headerOf(oldest) }
    },

    find: async (scope: Scope, id: string): Promise<LoggedEvent | null> =>
      (await withIds([id], whole)).find((one) => isSameScope(one.scope, scope)) ?? null,

    async bodies(scope: Scope, ids: readonly string[]): Promise<Map<string, string>> {
      const found = (await withIds(ids, whole)).filter((one) => isSameScope(one.scope, scope))
      return new Map(found.map(({ id, body }) => [id, body]))
    },

    /** The recorded ones of `ids`, of every account. */
    headersOf: (ids: readonly string[]): Promise<EventHeader[]> => withIds(ids, headers),

    /** Events of every account whose ids begin with `prefix`: made in one millisecond. */
    async madeAtInstant(prefix: string, limit: number): Promise<EventHeader[]> {
      const begins = { $gte: prefix, $lt: `${prefix}~` }
      const here = await log.find({ e: begins }, { projection, limit }).toArray()
      return [...here.map(headerOf), ...(await first.beginningWith(prefix, limit))]
    },

    /** In recording order; of every account for null. */
    async ofRound(scope: Scope | null, roundId: string, limit: number): Promise<LoggedEvent[]> {
      const found = log.find({ r: roundId }, { sort: { _id: 1 }, hint: 'round', limit }).toArray()
      const [early, late] = await Promise.all([first.ofRound(roundId, limit), found])
      const all = [...early, ...late.map(loggedOf)].toSorted((a, b) => a.seq - b.seq).slice(0, limit)
      return scope === null ? all : all.filter((one) => isSameScope(one.scope, scope))
    },
  }
}

/** One of the log's few rare types is read by its own index, several of them each by itself. */
async function pageOfLog(log: Collection<LogDocument>, asked: Required<Page>, options: FindOptions) {
  const [scope, afterSeq, limit, { types, from, to }] = asked
  const inWindow = { _id: keysAfter(scope, afterSeq), ...createdIn('c', from, to) }
  const page = (filter: Filter<LogDocument>, hint: { hint?: string } = {}) =>
    log.find({ ...inWindow, ...filter }, { ...options, ...hint, sort: { _id: 1 }, limit }).toArray()
  if (types === null) return page({})
  if (!types.every(isRare)) return page({ t: { $in: [...types] } })
  const found = (await Promise.all(types.map((x) => page({ x }, { hint: 'rare' })))).flat()
  return found.toSorted((a, b) => (a._id < b._id ? -1 : 1)).slice(0, limit)
}

function eventsFor({ afterSeq, webhookId: targets, ...scope }: WebhookPlace) {
  return { _id: keysAfter(scope, afterSeq), targets }
}

function headerOf(document: Omit<LogDocument, 'b'>): EventHeader {
  const { _id, e: id, t: type, c: createdAt, ra: recordedAt, r: roundId = null, targets, tp } = document
  const traced = tp === undefined ? {} : { traceparent: tp }
  return { ...readLogKey(_id), id, type, createdAt, recordedAt, roundId, targets, ...traced }
}

function loggedOf(document: LogDocument): LoggedEvent {
  return { ...headerOf(document), body: unpackText(document.b) }
}

/** What is made of a document, and what of it has to be read for that. */
type Shape<Event> = { readonly eventOf: (document: LogDocument) => Event; readonly options: FindOptions }
const whole: Shape<LoggedEvent> = { eventOf: loggedOf, options: {} }
const headers: Shape<EventHeader> = { eventOf: headerOf, options: { projection } }
