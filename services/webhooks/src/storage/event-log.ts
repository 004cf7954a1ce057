import { setTimeout as pause } from 'node:timers/promises'
import type { Scope } from '@pitboss/contracts/caller'
import type { EventType } from '@pitboss/contracts/objects/event'
import { BoundedMap } from '@pitboss/runtime/bounded-map'
import { insertOrdered } from '@pitboss/storage/journal/insert-together'
import type { Collection, Filter, FindOptions } from 'mongodb'
import type { Collections, LogDocument } from './collections.ts'
import { createdIn, openFirstEvents } from './first-events.ts'
import {
  type Appended,
  appendEvents,
  isRare,
  type LogEnd,
  type LogStore,
  type LogWriter,
  type NewEvent,
  type RecordedEvent,
  type TargetsOf,
} from './log-append.ts'
import { keysAfter, logKey, readLogKey, scopeKey } from './log-keys.ts'
import { createSeqSearch } from './seq-search.ts'

/** What of a log is wanted. Null for all types, and for an open end of the window of creation times. */
export type EventWindow = {
  readonly types: readonly EventType[] | null
  readonly from: Date | null
  readonly to: Date | null
}

/** A recorded event without its body. */
export type EventHeader = {
  readonly id: string
  readonly scope: Scope
  /** Recording order: 1, 2, 3 … without gaps per account and environment. */
  readonly seq: number
  readonly type: EventType
  readonly createdAt: Date
  readonly recordedAt: Date
  readonly roundId: string | null
  /** The endpoints for which it was recorded. */
  readonly targets: readonly string[]
  /** Of the recorded span that recorded it. */
  readonly traceparent?: string
}

export type LoggedEvent = EventHeader & {
  /** The envelope byte for byte as it was published. */
  readonly body: string
}

/**
 * Each event once, in a gapless recording order per account and environment: the collection `log`, and before
 * it the events of the first format.
 */
export type EventLog = {
  /** Records events, none twice. @throws as `appendEvents` does */
  append(events: readonly NewEvent[], readTargets: () => Promise<TargetsOf>): Promise<Appended>
  /** The last recording number, 0 for an empty log. */
  endOf(scope: Scope): Promise<number>
  /** The last number of the first format, 0 for none. */
  endOfFirst(scope: Scope): Promise<number>
  /**
   * The recording number before the first event created at `from` or later. Creation times are not in order;
   * the latest one so far is.
   */
  seqBefore(scope: Scope, from: Date): Promise<number>
  /** Events after `afterSeq` in recording order, at most `limit`. */
  readAfter(scope: Scope, afterSeq: number, limit: number, window?: EventWindow): Promise<LoggedEvent[]>
  /** `readAfter` without the bodies. */
  headersAfter(scope: Scope, afterSeq: number, limit: number, window?: EventWindow): Promise<EventHeader[]>
  /** Events for an endpoint after `afterSeq`, the newest first: of this type, recorded at `to` or earlier. */
  newestFor(webhook: WebhookPlace, type: EventType | null, to: Date | null): AsyncIterable<EventHeader>
  /** How many events there are for an endpoint after `afterSeq`, at most `max`, and the first one. */
  countFor(webhook: WebhookPlace, max: number): Promise<{ count: number; first: EventHeader | null }>
  find(scope: Scope, id: string): Promise<LoggedEvent | null>
  /** Bodies of events of one scope, by event id. */
  bodies(scope: Scope, ids: readonly string[]): Promise<Map<string, string>>
  /** The recorded ones of `ids`, of every account. */
  recorded(ids: readonly string[]): Promise<Map<string, RecordedEvent>>
  /** The recorded ones of `ids`, of every account, without their bodies. */
  headersOf(ids: readonly string[]): Promise<EventHeader[]>
  /** Events of every account whose ids begin with `prefix`, which names the millisecond of their creation. */
  madeAtInstant(prefix: string, limit: number): Promise<EventHeader[]>
  /** Events of these rounds in recording order, of every account, at most `limit`. For operations. */
  ofRounds(roundIds: readonly string[], limit: number): Promise<LoggedEvent[]>
  /** Events of a round in recording order, at most `limit`. */
  ofRound(scope: Scope, roundId: string, limit: number): Promise<LoggedEvent[]>
}

/** An endpoint that has passed its log up to `afterSeq`. */
export type WebhookPlace = Scope & { readonly webhookId: string; readonly afterSeq: number }

const everything: EventWindow = { types: null, from: null, to: null }
const projection = { b: 0 } as const
const scopesMax = 10_000

/** Opens the event log; the indexes have to be there. */
export async function openEventLog(collections: Pick<Collections, 'log' | 'events'>): Promise<EventLog> {
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

  async function withIds(ids: readonly string[]): Promise<RecordedEvent[]> {
    const [here, earlier] = await Promise.all([
      log.find({ e: { $in: [...ids] } }, { projection: { e: 1, t: 1 } }).toArray(),
      first.withIds(ids),
    ])
    return [...here.map(recordedOf), ...earlier]
  }

  const store: LogStore = { endOf, withIds, insert: (documents) => insertOrdered(log, documents) }
  const steadyMs = () => performance.now()
  const writer: LogWriter = {
    ...{ store, ends: new BoundedMap(scopesMax), recent: new Map() },
    ...{ steadyMs, pause: (ms) => pause(ms) },
  }
  const searchSeq = createSeqSearch(async (scope, seq) => {
    const next = await log.findOne(
      { _id: { ...keysAfter(scope, 0), $gte: logKey(scope, seq) } },
      { sort: { _id: 1 }, projection: { h: 1 } },
    )
    return next === null ? null : { seq: readLogKey(next._id).seq, highAt: next.h }
  })

  /** A page of both parts: the first events end where the log begins. */
  async function pageOf<Item extends EventHeader>(
    scope: Scope,
    afterSeq: number,
    limit: number,
    parts: {
      first: (limit: number) => Promise<Item[]>
      log: (limit: number) => Promise<Item[]>
    },
  ): Promise<Item[]> {
    const isEarly = afterSeq < (await firstEndOf(scope)).seq
    const early = isEarly ? await parts.first(limit) : []
    return early.length >= limit ? early : [...early, ...(await parts.log(limit - early.length))]
  }

  return {
    append: (events, readTargets) => appendEvents(writer, events, readTargets),
    endOf: async (scope) => (await endOf(scope)).seq,
    endOfFirst: async (scope) => (await firstEndOf(scope)).seq,

    async seqBefore(scope, from) {
      // The end is read first: events recorded meanwhile must come after the answer, not before it.
      const end = await endOf(scope)
      if (end.highAt < from) return end.seq
      const firstEnd = await firstEndOf(scope)
      if (firstEnd.highAt >= from) return first.seqBefore(scope, from)
      return searchSeq(scope, from, { after: firstEnd.seq, to: end.seq })
    },

    readAfter: (scope, afterSeq, limit, window = everything) =>
      pageOf<LoggedEvent>(scope, afterSeq, limit, {
        first: (most) => first.readAfter(scope, afterSeq, most, window),
        log: async (most) => (await pageOfLog(log, scope, afterSeq, most, window, {})).map(loggedOf),
      }),

    headersAfter: (scope, afterSeq, limit, window = everything) =>
      pageOf(scope, afterSeq, limit, {
        first: (most) => first.headersAfter(scope, afterSeq, most, window),
        log: async (most) =>
          (await pageOfLog(log, scope, afterSeq, most, window, { projection })).map(headerOf),
      }),

    newestFor(webhook, type, to) {
      const ofType = type === null ? {} : { t: type }
      const filter = { ...eventsFor(webhook), ...ofType, ...(to === null ? {} : { ra: { $lte: to } }) }
      return log.find(filter, { projection, sort: { _id: -1 } }).map(headerOf)
    },

    async countFor(webhook, max) {
      const [count, first] = await Promise.all([
        log.countDocuments(eventsFor(webhook), { limit: max }),
        log.findOne(eventsFor(webhook), { projection, sort: { _id: 1 } }),
      ])
      return { count, first: first === null ? null : headerOf(first) }
    },

    find: async (scope, id) => (await ofIds(scope, [id])).find((event) => event.id === id) ?? null,

    bodies: async (scope, ids) => new Map((await ofIds(scope, ids)).map(({ id, body }) => [id, body])),

    async recorded(ids) {
      if (ids.length === 0) return new Map()
      const wanted = new Set(ids)
      return new Map((await withIds(ids)).flatMap((one) => (wanted.has(one.id) ? [[one.id, one]] : [])))
    },

    async headersOf(ids) {
      if (ids.length === 0) return []
      const wanted = new Set(ids)
      const here = (await log.find({ e: { $in: [...ids] } }, { projection }).toArray()).map(headerOf)
      const found = new Set(here.map(({ id }) => id))
      const earlier = await first.ofIds(ids.filter((id) => !found.has(id)))
      return [...here, ...earlier].filter(({ id }) => wanted.has(id))
    },

    async madeAtInstant(prefix, limit) {
      const begins = { $gte: prefix, $lt: `${prefix}~` }
      const here = await log.find({ e: begins }, { projection, limit }).toArray()
      const all = [...here.map(headerOf), ...(await first.beginningWith(prefix, limit))]
      return all.filter(({ id }) => id.startsWith(prefix))
    },

    async ofRounds(roundIds, limit) {
      if (roundIds.length === 0) return []
      const [early, late] = await Promise.all([
        first.ofRounds(roundIds, limit),
        lateOfRounds(roundIds, limit),
      ])
      return [...early, ...late].toSorted((a, b) => a.seq - b.seq).slice(0, limit)
    },

    async ofRound(scope, roundId, limit) {
      const [early, late] = await Promise.all([
        first.ofRounds([roundId], limit),
        lateOfRounds([roundId], limit),
      ])
      return [...early, ...late].filter(isOf(scope)).slice(0, limit)
    },
  }

  async function ofIds(scope: Scope, ids: readonly string[]): Promise<LoggedEvent[]> {
    const here = (await log.find({ e: { $in: [...ids] } }).toArray()).map(loggedOf)
    const found = new Set(here.map(({ id }) => id))
    const earlier = await first.ofIds(ids.filter((id) => !found.has(id)))
    return [...here, ...earlier].filter(isOf(scope))
  }

  async function lateOfRounds(roundIds: readonly string[], limit: number): Promise<LoggedEvent[]> {
    const filter = { r: { $in: [...roundIds] } }
    const found = await log.find(filter, { sort: { _id: 1 }, hint: 'round', limit }).toArray()
    return found.map(loggedOf)
  }
}

/** One of the log's few rare types is read by its own index, several of them each by itself. */
async function pageOfLog(
  log: Collection<LogDocument>,
  ...[scope, afterSeq, limit, { types, from, to }, options]: [Scope, number, number, EventWindow, FindOptions]
): Promise<LogDocument[]> {
  const inWindow = { _id: keysAfter(scope, afterSeq), ...createdIn('c', from, to) }
  const page = (filter: Filter<LogDocument>, hint: { hint?: string } = {}) =>
    log.find({ ...inWindow, ...filter }, { ...options, ...hint, sort: { _id: 1 }, limit }).toArray()
  if (types === null) return page({})
  if (!types.every(isRare)) return page({ t: { $in: [...types] } })
  const pages = await Promise.all(types.map((x) => page({ x }, { hint: 'rare' })))
  return pages
    .flat()
    .toSorted((a, b) => (a._id < b._id ? -1 : 1))
    .slice(0, limit)
}

const eventsFor = ({ webhookId, afterSeq, ...scope }: WebhookPlace) => ({
  _id: keysAfter(scope, afterSeq),
  targets: webhookId,
})

const isOf =
  ({ operatorId, environment }: Scope) =>
  ({ scope }: EventHeader) =>
    scope.operatorId === operatorId && scope.environment === environment

const idsOf = ({ e }: Pick<LogDocument, 'e'>) => (typeof e === 'string' ? ([e, e] as const) : e)

function recordedOf(document: Pick<LogDocument, '_id' | 'e' | 't'>): RecordedEvent {
  const [id, fact] = idsOf(document)
  return { id, fact, ...readLogKey(document._id), type: document.t }
}

function headerOf(document: Omit<LogDocument, 'b'>): EventHeader {
  const { t: type, c: createdAt, ra: recordedAt, r: roundId = null, targets, tp } = document
  return {
    ...readLogKey(document._id),
    ...{ id: idsOf(document)[0], type, createdAt, recordedAt, roundId, targets },
    ...(tp === undefined ? {} : { traceparent: tp }),
  }
}

function loggedOf(document: LogDocument): LoggedEvent {
  return { ...headerOf(document), body: document.b }
}
