import type { Scope } from '@pitboss/contracts/caller'
import { fencedUpdate } from '@pitboss/storage/fenced-update'
import { createGroups } from '@pitboss/storage/groups'
import type { UpdateFilter, WithId } from 'mongodb'
import { never, type EndpointDocument, type WorkerDocument } from './documents.ts'
import type { Collections } from './collections.ts'

const changeAttemptsMax = 8
const readTogetherMax = 200

export type EndpointStore = ReturnType<typeof createEndpointStore>
export type EndpointTarget = Pick<EndpointDocument, '_id' | 'operatorId' | 'environment' | 'events'>

/** Endpoints, and the leases under which workers deliver to them. */
export function createEndpointStore({ endpoints, workers }: Pick<Collections, 'endpoints' | 'workers'>) {
  const known = (scope: Scope, id: string) => endpoints.findOne({ _id: id, ...scopeFields(scope) })
  const readTogether = createGroups<string, WithId<EndpointDocument> | null>({
    async run(ids) {
      const found = await endpoints.find({ _id: { $in: [...new Set(ids)] } }).toArray()
      const byId = new Map(found.map((endpoint) => [endpoint._id, endpoint]))
      return ids.map((id) => byId.get(id) ?? null)
    },
    itemsMax: readTogetherMax,
    failsByOne: () => false,
  })

  return {
    /** For operations: whoever it belongs to. */
    read: (id: string): Promise<WithId<EndpointDocument> | null> => endpoints.findOne({ _id: id }),

    /** The endpoint of a leased delivery, in one round trip with the workers of other endpoints. */
    readTogether: async (id: string): Promise<WithId<EndpointDocument> | null> =>
      (await readTogether([id]))[0] ?? null,

    insert: async (endpoint: EndpointDocument): Promise<void> => {
      await endpoints.insertOne(endpoint)
    },

    /** The endpoint unless it is foreign, also when it is deleted. */
    known,

    /** The endpoint unless it is foreign or deleted. */
    find: (scope: Scope, id: string): Promise<WithId<EndpointDocument> | null> =>
      endpoints.findOne({ _id: id, ...scopeFields(scope), deletedAt: null }),

    /** In the order of creation, newest first, before `beforeId`. */
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

    /** Endpoints of these operators that are not deleted, in both environments. */
    targets: (operatorIds: readonly string[]): Promise<EndpointTarget[]> =>
      endpoints
        .find(
          { operatorId: { $in: [...operatorIds] }, deletedAt: null },
          { projection: { operatorId: 1, environment: 1, events: 1 } },
        )
        .toArray(),

    /**
     * Reads the endpoint, lets `decide` make an update of it and applies that if nobody was faster, else again.
     * `decide` returns null to leave it as it is. @returns the endpoint afterwards, null when it is gone or foreign.
     */
    async change(
      scope: Scope,
      id: string,
      decide: (endpoint: EndpointDocument) => UpdateFilter<EndpointDocument> | null,
    ): Promise<EndpointDocument | null> {
      for (let attempt = 1; attempt <= changeAttemptsMax; attempt++) {
        const endpoint = await known(scope, id)
        if (endpoint === null) return null
        const update = decide(endpoint)
        if (update === null) return endpoint
        const changed = await fencedUpdate(endpoints, id, endpoint.version, update)
        if (changed !== null) return changed
      }
      throw new Error(`endpoint ${id} kept changing`)
    },

    /** Keeps the times of the last success of endpoints at which nothing else changed. */
    async noteSuccesses(successes: ReadonlyMap<string, Date>): Promise<void> {
      if (successes.size === 0) return
      await endpoints.bulkWrite(
        [...successes].map(([_id, at]) => ({
          updateOne: { filter: { _id }, update: { $max: { 'health.lastSuccessAt': at } } },
        })),
        { ordered: false },
      )
    },

    /** Keeps for which closing of its breaker the backlog of an endpoint was pulled forward. */
    async notePulled(id: string, closedAt: Date): Promise<void> {
      await endpoints.updateOne({ _id: id }, { $max: { pulledFor: closedAt } })
    },

    /** How often work was made for these endpoints, by id. */
    async wakesOf(ids: readonly string[]): Promise<Map<string, number>> {
      if (ids.length === 0) return new Map()
      const found = await endpoints.find({ _id: { $in: [...ids] } }, { projection: { wakes: 1 } }).toArray()
      return new Map(found.map(({ _id, wakes }) => [_id, wakes]))
    },

    /** Tells the workers, durably, that these endpoints have something to do at `at`. */
    async lowerDue(ids: readonly string[], at: Date): Promise<void> {
      if (ids.length === 0) return
      await endpoints.updateMany({ _id: { $in: [...ids] } }, { $min: { dueAt: at }, $inc: { wakes: 1 } })
    },

    /** Endpoints with something to do now that no live worker holds, the longest waiting first. */
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
     * Takes the leases of those that no other live worker has (`aliveOwners`), each with a new token. For endpoints alone that the
     * owner does not run at the moment. @returns them as they are now
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
     * Gives the lease back and sets when the endpoint is due next. @returns false when somebody has made work since `wakes` was read
     * (the lease is kept) or the lease was lost.
     */
    async release(
      id: string,
      { token, wakes, dueAt }: { token: number; wakes: number; dueAt: Date },
    ): Promise<boolean> {
      const { matchedCount } = await endpoints.updateOne(
        { _id: id, leaseToken: token, wakes },
        { $set: { leaseOwner: null, dueAt } },
      )
      return matchedCount === 1
    },

    /** Gives the lease back with the endpoint due as it was, for another worker to take at once. */
    async abandon(id: string, token: number): Promise<void> {
      await endpoints.updateOne({ _id: id, leaseToken: token }, { $set: { leaseOwner: null } })
    },

    async countPaused(): Promise<number> {
      return endpoints.countDocuments({ 'health.status': 'PAUSED', deletedAt: null })
    },

    /** Says that a worker lives until `aliveUntil`. */
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

function scopeFields({ operatorId, environment }: Scope) {
  return { operatorId, environment }
}
