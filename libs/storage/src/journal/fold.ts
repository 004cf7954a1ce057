import { tryAgain } from '@pitboss/errors/service-error'
import type { Collection, Db } from 'mongodb'
import { insertedFirst } from '../create-once.ts'
import type { InstanceDocument } from './instances.ts'
import type { Entry } from './journal.ts'

/** What a sum has counted of one instance: all its entries up to `q`, but for those under `holes`. */
export type Cursor = { readonly q: number; readonly holes: readonly number[] }

/** A document that counts entries, each once, whoever counts them and however often. */
export type Sum = {
  readonly _id: string
  /** By instance. */
  readonly cursors: Readonly<Record<string, Cursor>>
  /** Rises with each write: the fence. */
  readonly version: number
}

/** Entries of one instance, in the order of their running numbers; calls go on where the last one ended. */
export type Batch<Fact> = {
  readonly entries: readonly Entry<Fact>[]
  /** Numbers below the last entry's under which an entry may still land. */
  readonly missing: readonly number[]
}

/** Where sums are stored. */
export type SumStore<Doc extends Sum> = {
  read(id: string): Promise<Doc | null>
  /** Inserts the sum, or replaces it where it stands at the version before. False when it does not. */
  write(sum: Doc): Promise<boolean>
  /** The instances that have a document, and so may have entries that are not counted. */
  readKnown(): Promise<readonly string[]>
}

const triesMax = 20
/** Cursors of instances that are gone leave once there are more than these. */
const cursorsMax = 8

/**
 * Counts a batch into the sum `id`, each entry once: also one that two processes count, that is counted again
 * after a crash, or that has landed late under a number below others. Source: ours.
 * @param add the sum with these entries, which are those of the batch that it has not counted; its cursors
 * and version are replaced
 * @throws ServiceError SERVICE_UNAVAILABLE when others were first 20 times
 */
export async function fold<Fact, Doc extends Sum>(
  store: SumStore<Doc>,
  id: string,
  batch: Batch<Fact>,
  add: (sum: Doc | null, entries: readonly Entry<Fact>[]) => Omit<Doc, keyof Sum>,
): Promise<void> {
  const [first] = batch.entries
  if (first === undefined) return
  const { o } = first
  for (let tries = 0; tries < triesMax; tries++) {
    const sum = await store.read(id)
    const cursors = sum?.cursors ?? {}
    const counted = cursors[o]
    const { fresh, cursor } = countOnce(counted, batch)
    if (fresh.length === 0) return
    const isLong = Object.keys(cursors).length >= cursorsMax
    const known = counted === undefined || isLong ? new Set(await store.readKnown()) : null
    // An instance without a document has been counted to its end, and its cursor may have left.
    if (counted === undefined && known?.has(o) !== true) return
    const kept = Object.entries(cursors).filter(([each]) => known === null || known.has(each))
    // The type of a sum's own fields is the caller's.
    const after = {
      ...add(sum, fresh),
      _id: id,
      cursors: { ...Object.fromEntries(kept), [o]: cursor },
      version: (sum?.version ?? 0) + 1,
    } as unknown as Doc
    if (await store.write(after)) return
  }
  throw tryAgain(`the sum ${id} kept changing`)
}

/** As `fold`, of items that entries hold. @param add the sum with the items that it has not counted */
export function foldItems<Fact, Item extends { readonly entry: Entry<Fact> }, Doc extends Sum>(
  store: SumStore<Doc>,
  id: string,
  { items, missing }: { readonly items: readonly Item[]; readonly missing: readonly number[] },
  add: (sum: Doc | null, items: readonly Item[]) => Omit<Doc, keyof Sum>,
): Promise<void> {
  const entries = [...new Set(items.map(({ entry }) => entry))]
  return fold<Fact, Doc>(store, id, { entries, missing }, (sum, fresh) => {
    const isFresh = new Set(fresh)
    return add(
      sum,
      items.filter(({ entry }) => isFresh.has(entry)),
    )
  })
}

/** The entries of a batch that the cursor has not counted, and the cursor that has. */
export function countOnce<Fact>(
  counted: Cursor | undefined,
  { entries, missing }: { readonly entries: readonly Entry<Fact>[]; readonly missing: readonly number[] },
): { readonly fresh: readonly Entry<Fact>[]; readonly cursor: Cursor } {
  const { q: to, holes } = counted ?? { q: 0, holes: [] }
  const fresh = entries.filter(({ q }) => q > to || holes.includes(q))
  const last = Math.max(to, ...entries.map(({ q }) => q))
  const struck = new Set(fresh.map(({ q }) => q))
  const added = missing.filter((q) => q > to && q < last)
  return { fresh, cursor: { q: last, holes: [...holes.filter((q) => !struck.has(q)), ...added] } }
}

/** Stores sums in a collection of the service's database, over the entries of its journal. */
export function createSumStore<Doc extends Sum>(db: Db, collection: Collection<Doc>): SumStore<Doc> {
  const instances = db.collection<InstanceDocument>('journal_instances')
  return {
    // The driver's types cannot see through a generic document.
    read: (id) => collection.findOne({ _id: id } as never) as Promise<Doc | null>,
    async write(sum) {
      const { _id, ...fields } = sum
      if (sum.version === 1) return insertedFirst(() => collection.insertOne(sum as never))
      const { matchedCount } = await collection.replaceOne(
        { _id, version: sum.version - 1 } as never,
        fields as never,
      )
      return matchedCount === 1
    },
    async readKnown() {
      const known = await instances.find({}, { projection: { _id: 1 } }).toArray()
      return known.map(({ _id }) => _id)
    },
  }
}
