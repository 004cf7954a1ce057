import type { Db } from 'mongodb'

/** A collection's shard key, and the reads that may go without it. */
export type Sharding = {
  /** The fields of the shard key. */
  readonly key: readonly string[]
  /** Whether a read by these fields may ask every shard. */
  readonly mayReadAll?: (fields: readonly string[]) => boolean
}

/** The write that matches nothing and asks every shard's primary: `confirmPrimary` of libs/storage. */
const nobody = 'none'
const inserts = new Set(['insertOne', 'insertMany'])
const writes = new Set([
  ...['updateOne', 'updateMany', 'findOneAndUpdate', 'deleteOne', 'deleteMany'],
  ...['replaceOne', 'findOneAndDelete', 'findOneAndReplace'],
])
const reads = new Set(['find', 'findOne', 'countDocuments', 'distinct', 'aggregate'])

/**
 * The same database, which refuses a command to a collection of `shardings` that does not name the document's
 * shard key by its value, as a sharded cluster would have to ask every shard.
 */
export function refuseUnkeyed(db: Db, shardings: Readonly<Record<string, Sharding>>): Db {
  return new Proxy(db, {
    get(target, name) {
      if (name !== 'collection') return bound(target, name)
      return (collection: string) => {
        const inner = target.collection(collection)
        const sharding = shardings[collection]
        return sharding === undefined ? inner : new Proxy(inner, guarding(collection, sharding))
      }
    },
  })
}

function guarding(collection: string, sharding: Sharding): ProxyHandler<object> {
  return {
    get(inner, method) {
      const value = bound(inner, method)
      if (typeof value !== 'function' || typeof method !== 'string') return value
      return (...args: unknown[]) => {
        const objection = objectionTo(method, args, sharding)
        if (objection !== null) throw new Error(`${collection}.${method}: ${objection}`)
        return value(...args)
      }
    },
  }
}

/** Why the command would have to ask every shard; null when it need not. */
function objectionTo(method: string, args: readonly unknown[], sharding: Sharding): string | null {
  const [first] = args
  if (inserts.has(method)) return listOf(first).every((one) => names(one, sharding)) ? null : without(first)
  if (writes.has(method)) return names(first, sharding) ? null : without(first)
  if (method === 'bulkWrite') {
    const operations = listOf(first).flatMap((one) => Object.values(Object(one)))
    const addressed = operations.map((operation) => {
      const { filter, document } = Object(operation)
      return filter ?? document
    })
    const unkeyed = addressed.find((one) => !names(one, sharding))
    return unkeyed === undefined ? null : without(unkeyed)
  }
  if (!reads.has(method) || names(first, sharding)) return null
  const filter = method === 'aggregate' ? Object(listOf(first)[0]).$match : first
  return sharding.mayReadAll?.(Object.keys(Object(filter))) === true ? null : without(filter)
}

/** Whether it names each field of the shard key by one value or several. */
function names(filter: unknown, { key }: Sharding): boolean {
  const fields: Record<string, unknown> = Object(filter)
  if (fields._id === nobody) return true
  return key.every((field) => typeof fields[field] === 'string' || Array.isArray(Object(fields[field]).$in))
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value]
}

function without(filter: unknown): string {
  return `no shard key in ${Object.keys(Object(filter)).join(', ')}`
}

/** The driver's classes have private fields, which a proxy in the place of `this` cannot reach. */
function bound(target: object, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name, target)
  return typeof value === 'function' ? value.bind(target) : value
}
