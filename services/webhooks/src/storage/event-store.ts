import type { Scope } from '@pitboss/contracts/caller'
import type { EventType } from '@pitboss/contracts/objects/event'
import { BoundedMap } from '@pitboss/runtime/bounded-map'
import { isDuplicateKey, isOnlyDuplicates } from '@pitboss/storage/create-once'
import type { Filter } from 'mongodb'
import { mapBounded } from '@pitboss/runtime/map-bounded'
import { type Collections, type EventDocument, scopeFields } from './collections.ts'

const insertAttemptsMax = 8
const scopesAtOnce = 8
const endsKept = 10_000
const endKeptMs = 60_000
const roundEventsMax = 200

export type NewEvent = Pick<
  EventDocument,
  '_id' | 'type' | 'createdAt' | 'recordedAt' | 'body' | 'roundId' | 'targets' | 'fact'
>
/** An event as it is recorded. @param byOther it was there already, recorded by another call */
export type Recorded = NewEvent & { readonly byOther?: true }
export type RecordedEvent = Pick<
  EventDocument,
  '_id' | 'operatorId' | 'environment' | 'type' | 'targets' | 'createdAt'
>

type EventHeader = Pick<EventDocument, '_id' | 'seq' | 'type' | 'createdAt' | 'recordedAt' | 'targets'>

export type EventWindow = {
  readonly types: readonly EventType[] | null
  readonly from: Date | null
  readonly to: Date | null
}

/** Events of one scope, in recording order. */
export type EventGroup = { readonly scope: Scope; readonly fresh: readonly NewEvent[] }

type LogEnd = { seq: number; createdHighAt: Date }
const emptyLog: LogEnd = { seq: 0, createdHighAt: new Date(0) }

export type EventStore = ReturnType<typeof createEventStore>

/**
 * The event log: each event once, in a gapless recording order per operator and environment. It has no
 * counter: the unique index on (scope, seq) forbids doubles, and a new event gets the number after the last
 * known one.
 */
export function createEventStore({ events }: Pick<Collections, 'events'>) {
  /**
   * The ends of logs to which this process wrote a moment ago. After a write of another process, such a
   * number is a duplicate, and the end is read again.
   */
  const ends = new BoundedMap<string, LogEnd & { keptAtMs: number }>(endsKept)
  const endKey = ({ operatorId, environment }: Scope) => `${operatorId}/${environment}`

  function keptEnd(scope: Scope): LogEnd | null {
    const end = ends.get(endKey(scope))
    return end === undefined || performance.now() - end.keptAtMs > endKeptMs ? null : end
  }

  function keepEnd(scope: Scope, end: LogEnd): void {
    ends.set(endKey(scope), { ...end, keptAtMs: performance.now() })
  }

  async function last(scope: Scope): Promise<LogEnd> {
    const found = await events.findOne(scopeFields(scope), {
      sort: { seq: -1 },
      projection: { seq: 1, createdHighAt: 1 },
    })
    return found ?? emptyLog
  }

  /** `record` for one scope. After a lost race it reads the end of the log again. */
  async function recordOne(scope: Scope, fresh: readonly NewEvent[]): Promise<Recorded[]> {
    const recorded: Recorded[] = []
    let rest = [...fresh]
    let end = keptEnd(scope) ?? (await last(scope))
    for (let attempt = 1; rest.length > 0; attempt++) {
      if (attempt > insertAttemptsMax) throw new Error('the end of the event log kept moving')
      const next = numbered(scope, rest, end)
      try {
        await events.insertMany(next.documents, { ordered: true })
        keepEnd(scope, next.end)
        return [...recorded, ...rest]
      } catch (error) {
        if (!isDuplicateKey(error)) throw error
      }
      const mine = await events
        .find(
          { _id: { $in: rest.map(({ _id }) => _id) }, ...scopeFields(scope) },
          { projection: { targets: 1 } },
        )
        .toArray()
      const present = new Map(mine.map(({ _id, targets }) => [_id, targets]))
      for (const event of rest) {
        const targets = present.get(event._id)
        if (targets !== undefined) recorded.push({ ...event, targets, byOther: true })
      }
      rest = rest.filter(({ _id }) => !present.has(_id))
      end = await last(scope)
    }
    keepEnd(scope, end)
    return recorded
  }

  const inOrder = (scope: Scope, window: EventWindow, afterSeq: number) =>
    events.find(windowFilter(scope, window, afterSeq)).sort({ seq: 1 })

  /** Numbers the events of each scope after the end of its log, which is read where it is not known. */
  async function numberedAll(groups: readonly EventGroup[]) {
    const logEnds = await mapBounded(
      groups,
      scopesAtOnce,
      async ({ scope }) => keptEnd(scope) ?? (await last(scope)),
    )
    return groups.map(({ scope, fresh }, index) => numbered(scope, fresh, logEnds[index] ?? emptyLog))
  }

  return {
    /** The recorded ones of `ids`, of every account. */
    async recorded(ids: readonly string[]): Promise<Map<string, RecordedEvent>> {
      if (ids.length === 0) return new Map()
      const found = await events
        .find(
          { _id: { $in: [...ids] } },
          { projection: { operatorId: 1, environment: 1, type: 1, targets: 1, createdAt: 1 } },
        )
        .toArray()
      return new Map(found.map((event) => [event._id, event]))
    },

    /** Of these facts, those told by an event with an id of its own: the event's id by the fact's. */
    async toldOtherwise(facts: readonly string[]): Promise<Map<string, string>> {
      if (facts.length === 0) return new Map()
      const found = await events
        .find({ fact: { $in: [...facts] } }, { projection: { fact: 1 } })
        .hint('fact')
        .toArray()
      return new Map(found.map(({ _id, fact = '' }) => [fact, _id]))
    },

    /**
     * Records events that are most likely new, without a look first: one ordered write takes them all, up to
     * the first that meets a recorded id, fact or number.
     * @returns those that this call has recorded; `record` takes the others
     */
    async recordNew(groups: readonly EventGroup[]): Promise<NewEvent[]> {
      const parts = await numberedAll(groups)
      const fresh = groups.flatMap((group) => group.fresh)
      if (fresh.length === 0) return []
      try {
        await events.insertMany(
          parts.flatMap((part) => part.documents),
          { ordered: true },
        )
      } catch (error) {
        if (!isOnlyDuplicates(error)) throw error
        for (const { scope } of groups) ends.delete(endKey(scope))
        return fresh.slice(0, error.insertedCount)
      }
      for (const [index, { scope }] of groups.entries()) keepEnd(scope, parts[index]?.end ?? emptyLog)
      return fresh
    },

    /**
     * Records events of several scopes, each scope in the order given, none twice. One ordered write takes
     * them all, so that its part is gapless when it fails. When it meets a recorded event, each scope
     * continues by itself.
     * @returns the events as they are recorded now, by this call or by a faster one
     * @throws Error when it keeps losing
     */
    async record(groups: readonly EventGroup[]): Promise<Recorded[]> {
      const parts = await numberedAll(groups)
      try {
        const documents = parts.flatMap((part) => part.documents)
        if (documents.length > 0) await events.insertMany(documents, { ordered: true })
      } catch (error) {
        if (!isDuplicateKey(error)) throw error
        for (const { scope } of groups) ends.delete(endKey(scope))
        const recorded = await mapBounded(groups, scopesAtOnce, ({ scope, fresh }) => recordOne(scope, fresh))
        return recorded.flat()
      }
      for (const [index, { scope }] of groups.entries()) keepEnd(scope, parts[index]?.end ?? emptyLog)
      return groups.flatMap(({ fresh }) => fresh)
    },

    /** The last recording number, 0 for an empty log. */
    lastSeq: async (scope: Scope): Promise<number> => (await last(scope)).seq,

    /**
     * The recording number before the first event created at `from` or later. Exact although creation times
     * are not in order, since the running maximum first reaches `from` at such an event.
     */
    async seqBefore(scope: Scope, from: Date): Promise<number> {
      // The end is read first: events recorded meanwhile must come after the answer, not before it.
      const end = await last(scope)
      if (end.createdHighAt < from) return end.seq
      const first = await events.findOne(
        { ...scopeFields(scope), createdHighAt: { $gte: from } },
        { sort: { createdHighAt: 1, seq: 1 }, projection: { seq: 1 } },
      )
      return first === null ? end.seq : first.seq - 1
    },

    /** Events after `afterSeq` in recording order. */
    page: (scope: Scope, window: EventWindow, afterSeq: number, limit: number) =>
      inOrder(scope, window, afterSeq)
        .project<Pick<EventDocument, '_id' | 'seq' | 'body'>>({ seq: 1, body: 1 })
        .limit(limit)
        .toArray(),

    /** `page` without the bodies. */
    headers: (scope: Scope, window: EventWindow, afterSeq: number, limit: number) =>
      inOrder(scope, window, afterSeq)
        .project<EventHeader>({ seq: 1, type: 1, createdAt: 1, recordedAt: 1, targets: 1 })
        .limit(limit)
        .toArray(),

    async find(scope: Scope, id: string): Promise<Pick<EventDocument, '_id' | 'body'> | null> {
      return events.findOne({ _id: id, ...scopeFields(scope) }, { projection: { body: 1 } })
    },

    /** Bodies of events that are about to be sent, by event id. */
    async bodies(scope: Scope, ids: readonly string[]): Promise<Map<string, string>> {
      const found = await events
        .find({ _id: { $in: [...ids] }, ...scopeFields(scope) }, { projection: { body: 1 } })
        .toArray()
      return new Map(found.map(({ _id, body }) => [_id, body]))
    },

    /** Every event of these rounds, with what its envelope says. For operations. */
    async ofRounds(roundIds: readonly string[]): Promise<Pick<EventDocument, '_id' | 'body'>[]> {
      if (roundIds.length === 0) return []
      return events
        .find({ roundId: { $in: [...roundIds] } }, { projection: { body: 1 }, hint: 'of_round' })
        .toArray()
    },

    /** Events of a round in recording order. */
    ofRoundIn: (scope: Scope, roundId: string, limit: number) =>
      events
        .find({ roundId, ...scopeFields(scope) }, { projection: { body: 1 } })
        .sort({ seq: 1 })
        .hint('of_round')
        .limit(limit)
        .toArray(),

    /** Events of a round in recording order, at most 200. For operations. */
    async ofRound(roundId: string): Promise<Pick<EventDocument, '_id' | 'body' | 'seq'>[]> {
      const found = await events
        .find({ roundId }, { projection: { body: 1, seq: 1 }, hint: 'of_round' })
        .limit(roundEventsMax)
        .toArray()
      return found.toSorted((a, b) => a.seq - b.seq)
    },
  }
}

/** Numbers events after `end`. @returns them and the new end of the log */
function numbered(
  scope: Scope,
  fresh: readonly NewEvent[],
  { seq, createdHighAt }: LogEnd,
): { documents: EventDocument[]; end: LogEnd } {
  let highMs = createdHighAt.getTime()
  const documents = fresh.map((event, index) => {
    highMs = Math.max(highMs, event.createdAt.getTime())
    return { ...event, ...scopeFields(scope), seq: seq + 1 + index, createdHighAt: new Date(highMs) }
  })
  return { documents, end: { seq: seq + documents.length, createdHighAt: new Date(highMs) } }
}

function windowFilter(
  scope: Scope,
  { types, from, to }: EventWindow,
  afterSeq: number,
): Filter<EventDocument> {
  const [onlyType] = types ?? []
  const createdAt = {
    ...(from === null ? {} : { $gte: from }),
    ...(to === null ? {} : { $lte: to }),
  }
  return {
    ...scopeFields(scope),
    seq: { $gt: afterSeq },
    ...(types === null || onlyType === undefined
      ? {}
      : { type: types.length === 1 ? onlyType : { $in: [...types] } }),
    ...(from === null && to === null ? {} : { createdAt }),
  }
}
