import { type Scope, scopeOf } from '@pitboss/contracts/caller'
import { changeFenced, fencedUpdate } from '@pitboss/storage/change-fenced'
import { createGroupFind } from '@pitboss/storage/group-find'
import type { SharedCopies } from '@pitboss/storage/shared-copies'
import type { Filter, FindOptions, UpdateFilter, WithId } from 'mongodb'
import { aheadMax } from '../rules/passage.ts'
import type { Collections, EndpointDocument } from './collections.ts'

const changeTriesMax = 8

type Copies = Pick<SharedCopies, 'of'>
type Fence = { readonly _id: string; readonly leaseToken?: number }
type Decide = (endpoint: EndpointDocument) => UpdateFilter<EndpointDocument> | null

export type EndpointStore = ReturnType<typeof createEndpointStore>
export type EndpointSummary = Scope & Pick<EndpointDocument, '_id' | 'wakes' | 'leaseOwner'>
const summaryFields = { operatorId: 1, environment: 1, wakes: 1, leaseOwner: 1 } as const

const present = (scope: Scope) => ({ ...scopeOf(scope), deletedAt: null })
/** Endpoints for which something may be left to do. */
const withWork = { $or: [{ deletedAt: null }, { closing: true }] }

/** An endpoint under a new lease. @param mayHaveSent after the last range; 0 after a clean end */
export type TakenEndpoint = { readonly endpoint: EndpointDocument; readonly mayHaveSent: number }

/** Of an endpoint of an earlier release: so many messages could be on their way to be recorded. */
const mayHaveSentEarlier = 1000

/** The endpoints of an operator as they were read, and when by the steady clock of the process. */
export type EndpointsRead = { readonly endpoints: readonly EndpointDocument[]; readonly atMs: number }

export function createEndpointStore({ endpoints }: Pick<Collections, 'endpoints'>, { of }: Copies) {
  async function update(filter: Fence, changes: UpdateFilter<EndpointDocument>): Promise<void> {
    await endpoints.updateOne(filter, changes)
  }
  const known = (scope: Scope, id: string) => endpoints.findOne({ _id: id, ...scopeOf(scope) })
  const summariesOf = (filter: Filter<EndpointDocument>, options: FindOptions = {}) =>
    endpoints
      .find({ ...filter, ...withWork }, options)
      .project<EndpointSummary>(summaryFields)
      .toArray()
  const readTargets = createGroupFind<EndpointsRead & { readonly _id: string }>(async (operatorIds) => {
    const atMs = performance.now()
    const wanted = { operatorId: { $in: [...operatorIds] }, deletedAt: null }
    const byOperator = Map.groupBy(await endpoints.find(wanted).toArray(), ({ operatorId }) => operatorId)
    return operatorIds.map((_id) => ({ _id, endpoints: byOperator.get(_id) ?? [], atMs }))
  })
  const none: EndpointsRead = { endpoints: [], atMs: 0 }
  const targets = of('endpoints', async (operatorId) => (await readTargets(operatorId)) ?? none)

  return {
    read: (id: string) => endpoints.findOne({ _id: id }),

    /** The endpoint of a leased delivery, in one round trip with the workers of other endpoints. */
    readTogether: createGroupFind<WithId<EndpointDocument>>((ids) =>
      endpoints.find({ _id: { $in: [...ids] } }).toArray(),
    ),

    insert: async (endpoint: EndpointDocument) => void (await endpoints.insertOne(endpoint)),

    /** The endpoint, also a deleted one; null for a foreign one. */
    known,

    /** The endpoint; null for a foreign or deleted one. */
    find: (scope: Scope, id: string) => endpoints.findOne({ _id: id, ...present(scope) }),

    /** Newest first, before `beforeId`. */
    list(scope: Scope, beforeId: string | null, limit: number) {
      const before = beforeId === null ? {} : { _id: { $lt: beforeId } }
      return endpoints.find({ ...present(scope), ...before }, { sort: { _id: -1 }, limit }).toArray()
    },

    count: (scope: Scope): Promise<number> => endpoints.countDocuments(present(scope)),

    ofScope: (scope: Scope): Promise<Pick<EndpointDocument, '_id' | 'events'>[]> =>
      endpoints.find(present(scope), { projection: { events: 1 } }).toArray(),

    /** The endpoints of these operators, from memory, with the types of now; all else may be seconds old. */
    targets: (operatorIds: readonly string[]): Promise<EndpointsRead[]> =>
      Promise.all(operatorIds.map((id) => targets.read(id))),

    /** Must end before a change of targets is answered. */
    dropTargets: ({ operatorId }: Pick<Scope, 'operatorId'>): Promise<void> => targets.drop(operatorId),

    /**
     * Writes what `decide` makes of the endpoint (null: leaves it), again if another came first.
     * @param read the endpoint as it was read before, to begin with
     * @returns null for an unknown or foreign one @throws ServiceError SERVICE_UNAVAILABLE after eight tries
     */
    async change(scope: Scope, id: string, decide: Decide, read?: EndpointDocument) {
      type Changed = { endpoint: EndpointDocument | null }
      const { endpoint } = await changeFenced<EndpointDocument | null, Changed>({
        document: read ?? (await known(scope, id)),
        async change(current) {
          const update = current === null ? null : decide(current)
          if (current === null || update === null) return { endpoint: current }
          const changed = await fencedUpdate(endpoints, { _id: id }, current.version, update)
          return changed === null ? null : { endpoint: changed }
        },
        ...{ reread: () => known(scope, id), triesMax: changeTriesMax, name: `endpoint ${id}` },
      })
      return endpoint
    },

    async noteSuccesses(successes: ReadonlyMap<string, Date>): Promise<void> {
      const operations = [...successes].map(([_id, at]) => ({
        updateOne: { filter: { _id }, update: { $max: { 'health.lastSuccessAt': at } } },
      }))
      if (operations.length > 0) await endpoints.bulkWrite(operations, { ordered: false })
    },

    notePulled: (id: string, closedAt: Date) => update({ _id: id }, { $max: { pulledFor: closedAt } }),
    notePruned: (id: string, narrowedAt: Date) => update({ _id: id }, { $max: { prunedAt: narrowedAt } }),
    countWork: (id: string) => update({ _id: id }, { $inc: { wakes: 1 } }),

    /** The endpoints after `afterId` for which something may be left to do, in the order of their ids. */
    page: (afterId: string, limit: number) =>
      summariesOf({ _id: { $gt: afterId } }, { sort: { _id: 1 }, limit }),

    summaries: (ids: readonly string[]) => summariesOf({ _id: { $in: [...ids] } }),

    /** Takes the lease, with a new token, if none of `aliveOthers` and not the owner itself has it. */
    async take(id: string, owner: string, aliveOthers: readonly string[]): Promise<TakenEndpoint | null> {
      const seen = await endpoints.findOne({ _id: id, leaseOwner: { $nin: [...aliveOthers] } })
      if (seen === null) return null
      const { leaseToken } = seen
      const lease = {
        $set: { leaseOwner: owner, leaseToken: leaseToken + 1 },
        $max: { leaseAhead: aheadMax },
      }
      const mine = { _id: id, leaseToken }
      const endpoint = await endpoints.findOneAndUpdate(mine, lease, { returnDocument: 'after' })
      if (endpoint === null) return null
      const { leaseOwner, leaseAhead } = seen
      const isClean = leaseToken === 0 || (leaseOwner === null && leaseAhead !== undefined)
      return { endpoint, mayHaveSent: isClean ? 0 : (leaseAhead ?? mayHaveSentEarlier) }
    },

    /** Gives the lease back: nothing was sent that is on no record. */
    release: (id: string, leaseToken: number) =>
      update({ _id: id, leaseToken }, { $set: { leaseOwner: null, leaseAhead: 0 } }),

    noteLate: (id: string, leaseToken: number, isLate: boolean) =>
      update({ _id: id, leaseToken }, isLate ? { $set: { isLate } } : { $unset: { isLate: true } }),

    /** The endpoints of these ids, also deleted ones; of every account for null. */
    ofIds: (scope: Scope | null, ids: readonly string[]): Promise<EndpointDocument[]> =>
      endpoints.find({ _id: { $in: [...ids] }, ...(scope === null ? {} : scopeOf(scope)) }).toArray(),

    /** The endpoints with new events that wait for a second; also deleted ones. */
    late(scope: Scope | null) {
      const filter = { isLate: true, ...withWork, ...(scope === null ? {} : scopeOf(scope)) }
      return endpoints.find(filter, { hint: 'late' }).toArray()
    },

    forgetNarrowings: (id: string, cursor: number) =>
      update({ _id: id }, { $pull: { narrowings: { to: { $lte: cursor } } } }),

    close: (id: string, leaseToken: number) => update({ _id: id, leaseToken }, { $unset: { closing: true } }),

    hasLeases: async (owner: string): Promise<boolean> =>
      (await endpoints.findOne({ leaseOwner: owner }, { projection: { _id: 1 } })) !== null,

    /** How many endpoints have an open breaker, and those that have failed longest. */
    async openBreakers(limit: number): Promise<{ count: number; longest: readonly string[] }> {
      const opened = { 'health.breaker.probeAt': { $gt: new Date(0) }, deletedAt: null }
      const open = { ...opened, 'health.status': 'ACTIVE' } as const
      const hint = 'breaker_open'
      const first = { projection: { _id: 1 }, sort: { 'health.streak.since': 1 }, limit, hint } as const
      const reads = [endpoints.countDocuments(open, { hint }), endpoints.find(open, first).toArray()] as const
      const [count, longest] = await Promise.all(reads)
      return { count, longest: longest.map(({ _id }) => _id) }
    },

    countPaused: (): Promise<number> =>
      endpoints.countDocuments({ 'health.status': 'PAUSED', deletedAt: null }),
  }
}
