import { type Scope, scopeOf } from '@pitboss/contracts/caller'
import type { Collection, Filter, FindOptions } from 'mongodb'
import type { EventDocument, LoggedEvent } from './collections.ts'
import type { EventWindow } from './event-log.ts'
import type { LogEnd } from './log-append.ts'

/*
 * The oldest part of the event log: the collection `events` as builds before the log wrote it. Nothing is
 * added to it any more, so what is known of it stays true. Ids above its greatest one need no search.
 */

export async function openFirstEvents(events: Collection<EventDocument>) {
  const last = await events.findOne({}, { sort: { _id: -1 }, projection: { _id: 1 } })
  const [isEmpty, greatestId] = [last === null, last?._id ?? '']

  async function find(filter: Filter<EventDocument>, options: FindOptions = {}): Promise<LoggedEvent[]> {
    const found = await events.find(filter, options).toArray()
    return found.map(({ _id: id, operatorId, environment, createdHighAt: _, ...event }) => {
      return { ...event, id, scope: { operatorId, environment } }
    })
  }

  return {
    async endOf(scope: Scope): Promise<LogEnd | null> {
      if (isEmpty) return null
      const newest = { sort: { seq: -1 }, projection: { seq: 1, createdHighAt: 1 } } as const
      const last = await events.findOne(scopeOf(scope), newest)
      return last === null ? null : { seq: last.seq, highAt: last.createdHighAt }
    },

    /** The number before the first event created at `from` or later, where there is one. */
    async seqBefore(scope: Scope, from: Date): Promise<number> {
      const since = { ...scopeOf(scope), createdHighAt: { $gte: from } }
      const oldest = { sort: { createdHighAt: 1, seq: 1 }, projection: { seq: 1 } } as const
      return ((await events.findOne(since, oldest))?.seq ?? 1) - 1
    },

    readAfter(scope: Scope, afterSeq: number, limit: number, { types, from, to }: EventWindow) {
      const ofTypes = types === null ? {} : { type: { $in: [...types] } }
      const filter = { ...scopeOf(scope), seq: { $gt: afterSeq }, ...ofTypes }
      return find({ ...filter, ...createdIn('createdAt', from, to) }, { sort: { seq: 1 }, limit })
    },

    async ofIds(ids: readonly string[]): Promise<LoggedEvent[]> {
      const here = ids.filter((id) => id <= greatestId)
      return here.length === 0 ? [] : find({ _id: { $in: here } })
    },

    beginningWith: async (prefix: string, limit: number): Promise<LoggedEvent[]> =>
      isEmpty ? [] : find({ _id: { $gte: prefix, $lt: `${prefix}~` } }, { limit }),

    ofRound: async (roundId: string, limit: number): Promise<LoggedEvent[]> =>
      isEmpty ? [] : find({ roundId }, { hint: 'of_round', limit }),
  }
}

export function createdIn(field: 'createdAt' | 'c', from: Date | null, to: Date | null) {
  const within = { ...(from === null ? {} : { $gte: from }), ...(to === null ? {} : { $lte: to }) }
  return from === null && to === null ? {} : { [field]: within }
}
