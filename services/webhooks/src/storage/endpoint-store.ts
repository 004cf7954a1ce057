import type { Scope } from '@pitboss/contracts/caller'
import { changeFenced, fencedUpdate } from '@pitboss/storage/change-fenced'
import type { UpdateFilter, WithId } from 'mongodb'
import { batchCalls } from './batch-calls.ts'
import {
  type Collections,
  type EndpointDocument,
  never,
  scopeFields,
  type WorkerDocument,
} from './collections.ts'

const changeTriesMax = 8
const readTogetherMax = 200

export type EndpointStore = ReturnType<typeof createEndpointStore>
export type EndpointTarget = Pick<
  EndpointDocument,
  '_id' | 'operatorId' | 'environment' | 'events' | 'version' | 'leaseToken' | 'dueAt' | 'health'
>
/** Whose lease an endpoint is under, and whether a worker finds it by the clock. */
export type EndpointLease = Pick<EndpointDocument, '_id' | 'leaseToken' | 'dueAt'>

/** Endpoints, and the leases under which workers deliver to them. */
export function createEndpointStore({ endpoints, workers }: Pick<Collections, 'endpoints' | 'workers'>) {
  const known = (scope: Scope, id: string) => endpoints.findOne({ _id: id, ...scopeFields(scope) })
  const readTogether = batchCalls<string, WithId<EndpointDocument> | null>({
    async run(ids) {
      const found = await endpoints.find({ _id: { $in: [...new Set(ids)] } }).toArray()
      const byId = new Map(found.map((endpoint) => [endpoint._id, endpoint]))
      return ids.map((id) => byId.get(id) ?? null)
    },
    itemsMax: readTogetherMax,
    failsByOne: () => false,
  })

  return {
    /** For operations: an endpoint of any account. */
    read: (id: string): Promise<WithId<EndpointDocument> | null> => endpoints.findOne({ _id: id }),

    /** The endpoint of a leased delivery, in one round trip with the workers of other endpoints. */
    readTogether: async (id: string): Promise<WithId<EndpointDocument> | null> =>
      (await readTogether([id]))[0] ?? null,

    insert: async (endpoint: EndpointDocument): Promise<void> => {
      await endpoints.insertOne(endpoint)
    },

    /** The endpoint, also a deleted one; null for a foreign one. */
    known,

    /** The endpoint; null for a foreign or deleted one. */
    find: (scope: Scope, id: string): Promise<WithId<EndpointDocument> | null> =>
      endpoints.findOne({ _id: id, ...scopeFields(scope), deletedAt: null }),

    /** Newest first, before `beforeId`. */
    list: (scope: Scope, beforeId: string | null, limit: number): Promise<WithId<EndpointDocument>[]> =>
      endpoints
        .find({
          ...scopeFields(scope),
          ...(beforeId === null ? {} : { _id: { $lt: beforeId } }),
          deletedAt: null,
        })
        .sort({ _id: -1 })
        .limit(limit)
        .toArray(),

    count: (scope: Scope): Promise<number> =>
      endpoints.countDocuments({ ...scopeFields(scope), deletedAt: null }),

    /** The events of the scope's endpoints, without the deleted ones. */
    ofScope: (scope: Scope): Promise<Pick<EndpointDocument, '_id' | 'events'>[]> =>
      endpoints.find({ ...scopeFields(scope), deletedAt: null }, { projection: { events: 1 } }).toArray(),

    /** The endpoints of these operators in both environments, without the deleted ones. */
    targets: (operatorIds: readonly string[]): Promise<EndpointTarget[]> =>
      endpoints
        .find(
          { operatorId: { $in: [...operatorIds] }, deletedAt: null },
          {
            projection: {
              ...{ operatorId: 1, environment: 1, events: 1 },
              ...{ version: 1, leaseToken: 1, dueAt: 1, health: 1 },
            },
          },
        )
        .toArray(),

    /** These endpoints, by id. */
    readMany: async (ids: readonly string[]): Promise<Map<string, EndpointDocument>> => {
      if (ids.length === 0) return new Map()
      const found = await endpoints.find({ _id: { $in: [...ids] } }).toArray()
      return new Map(found.map((endpoint) => [endpoint._id, endpoint]))
    },

    /** The leases of these endpoints, by id. */
    leases: async (ids: readonly string[]): Promise<Map<string, EndpointLease>> => {
      const found = await endpoints
        .find({ _id: { $in: [...ids] } }, { projection: { leaseToken: 1, dueAt: 1 } })
        .toArray()
      return new Map(found.map((endpoint) => [endpoint._id, endpoint]))
    },

    /**
     * Reads the endpoint, lets `decide` make an update of it and writes that, again from the start when
     * another write was first.
     * @param decide returns null to leave the endpoint as it is
     * @returns the endpoint afterwards; null for an unknown or foreign one
     * @throws ServiceError SERVICE_UNAVAILABLE when other writes were first eight times
     */
    async change(
      scope: Scope,
      id: string,
      decide: (endpoint: EndpointDocument) => UpdateFilter<EndpointDocument> | null,
    ): Promise<EndpointDocument | null> {
      const { endpoint } = await changeFenced({
        document: await known(scope, id),
        change: async (current) => {
          const update = current === null ? null : decide(current)
          if (current === null || update === null) return { endpoint: current }
          const changed = await fencedUpdate(endpoints, { _id: id }, current.version, update)
          return changed === null ? null : { endpoint: changed }
        },
        reread: () => known(scope, id),
        triesMax: changeTriesMax,
        name: `endpoint ${id}`,
      })
      return endpoint
    },

    /** Stores the times of the last success of endpoints at which nothing else changed. */
    async noteSuccesses(successes: ReadonlyMap<string, Date>): Promise<void> {
      if (successes.size === 0) return
      await endpoints.bulkWrite(
        [...successes].map(([_id, at]) => ({
          updateOne: { filter: { _id }, update: { $max: { 'health.lastSuccessAt': at } } },
        })),
        { ordered: false },
      )
    },

    /** Stores the closing of the breaker for which the backlog was pulled forward. */
    async notePulled(id: string, closedAt: Date): Promise<void> {
      await endpoints.updateOne({ _id: id }, { $max: { pulledFor: closedAt } })
    },

    /** Stores the narrowing of its types for which waiting deliveries were cancelled. */
    async notePruned(id: string, narrowedAt: Date): Promise<void> {
      await endpoints.updateOne({ _id: id }, { $max: { prunedAt: narrowedAt } })
    },

    /** The work counts of these endpoints (`wakes`), by id. */
    async workCounts(ids: readonly string[]): Promise<Map<string, number>> {
      if (ids.length === 0) return new Map()
      const found = await endpoints.find({ _id: { $in: [...ids] } }, { projection: { wakes: 1 } }).toArray()
      return new Map(found.map(({ _id, wakes }) => [_id, wakes]))
    },

    /**
     * Stores that these endpoints have something to do at `at`, and counts it as one piece of work of each.
     */
    async lowerDue(ids: readonly string[], at: Date): Promise<void> {
      if (ids.length === 0) return
      await endpoints.updateMany({ _id: { $in: [...ids] } }, { $min: { dueAt: at }, $inc: { wakes: 1 } })
    },

    /** Endpoints that have something to do now and that no live worker holds, the longest waiting first. */
    async due(now: Date, aliveOwners: readonly string[], limit: number): Promise<string[]> {
      const found = await endpoints
        .find({ dueAt: { $lte: now }, leaseOwner: { $nin: [...aliveOwners] } }, { projection: { _id: 1 } })
        .sort({ dueAt: 1 })
        .limit(limit)
        .toArray()
      return found.map(({ _id }) => _id)
    },

    /** Endpoints that have something to do at some time, the earliest first. */
    async waiting(limit: number): Promise<string[]> {
      const found = await endpoints
        .find({ dueAt: { $lt: never } }, { projection: { _id: 1 } })
        .sort({ dueAt: 1 })
        .limit(limit)
        .toArray()
      return found.map(({ _id }) => _id)
    },

    /**
     * Takes the leases that no other live worker has (`aliveOwners`), each with a new token. Never ask for an
     * endpoint that the owner runs at the moment.
     * @returns the endpoints now leased
     */
    async lease(
      ids: readonly string[],
      owner: string,
      aliveOwners: readonly string[],
    ): Promise<WithId<EndpointDocument>[]> {
      const wanted = { _id: { $in: [...ids] } }
      await endpoints.updateMany(
        { ...wanted, leaseOwner: { $nin: [...aliveOwners] } },
        { $set: { leaseOwner: owner }, $inc: { leaseToken: 1 } },
      )
      return endpoints.find({ ...wanted, leaseOwner: owner }).toArray()
    },

    /**
     * Gives the lease back and sets when the endpoint is due next.
     * @returns false when more work was counted than `workCount` (the lease is kept) or the lease was lost
     */
    async release(
      id: string,
      { token, workCount, dueAt }: { token: number; workCount: number; dueAt: Date },
    ): Promise<boolean> {
      const { matchedCount } = await endpoints.updateOne(
        { _id: id, leaseToken: token, wakes: workCount },
        { $set: { leaseOwner: null, dueAt } },
      )
      return matchedCount === 1
    },

    /** Gives the lease back with the endpoint due as it was, for another worker to take at once. */
    async abandon(id: string, token: number): Promise<void> {
      await endpoints.updateOne({ _id: id, leaseToken: token }, { $set: { leaseOwner: null } })
    },

    /**
     * When the endpoint had to be looked at that waits longest and that no live worker holds; null for none.
     */
    async longestUntaken(now: Date, aliveOwners: readonly string[]): Promise<Date | null> {
      const found = await endpoints.findOne(
        { dueAt: { $lte: now }, leaseOwner: { $nin: [...aliveOwners] } },
        { projection: { dueAt: 1 }, sort: { dueAt: 1 }, hint: 'due' },
      )
      return found?.dueAt ?? null
    },

    /** How many endpoints have an open breaker, and those that have failed longest. */
    async openBreakers(limit: number): Promise<{ count: number; longest: readonly string[] }> {
      const open = {
        'health.breaker.probeAt': { $gt: new Date(0) },
        'health.status': 'ACTIVE',
        deletedAt: null,
      } as const
      const hint = 'breaker_open'
      const [count, longest] = await Promise.all([
        endpoints.countDocuments(open, { hint }),
        endpoints
          .find(open, { projection: { _id: 1 }, hint })
          .sort({ 'health.streak.since': 1 })
          .limit(limit)
          .toArray(),
      ])
      return { count, longest: longest.map(({ _id }) => _id) }
    },

    async countPaused(): Promise<number> {
      return endpoints.countDocuments({ 'health.status': 'PAUSED', deletedAt: null })
    },

    /** Renews a worker's heartbeat: it lives until `aliveUntil`. */
    async beat({ _id, aliveUntil }: WorkerDocument): Promise<void> {
      await workers.updateOne({ _id }, { $set: { aliveUntil } }, { upsert: true })
    },

    async aliveWorkers(now: Date): Promise<string[]> {
      const found = await workers.find({ aliveUntil: { $gt: now } }).toArray()
      return found.map(({ _id }) => _id)
    },

    async retire(workerId: string): Promise<void> {
      await workers.deleteOne({ _id: workerId })
    },
  }
}
