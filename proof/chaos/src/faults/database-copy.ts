import type { Product } from '@pitboss/bench/harness/start-product'
import { BSON, type Db, type Document, MongoClient } from 'mongodb'

const chunk = 500

/** A database at one instant: each document's bytes by its id, by collection. */
export type Collections = ReadonlyMap<string, Documents>
type Documents = ReadonlyMap<string, Uint8Array>

/** Runs `work` with a connection of its own to the product's database of that name. */
export async function withDatabase<Result>(
  product: Pick<Product, 'demo'>,
  name: string,
  work: (db: Db, client: MongoClient) => Promise<Result>,
): Promise<Result> {
  const client = new MongoClient(product.demo().engines.mongodb.url)
  try {
    return await work(client.db(name), client)
  } finally {
    await client.close()
  }
}

/** Reads a small database whole, every number of the type that it has. */
export async function readDocuments(db: Db): Promise<Map<string, Documents>> {
  const found = new Map<string, Documents>()
  for (const { name } of await db.listCollections().toArray()) {
    const documents = await db.collection(name).find({}, { promoteValues: false }).toArray()
    found.set(name, new Map(documents.map((one) => [JSON.stringify(one._id), BSON.serialize(one)] as const)))
  }
  return found
}

/** Sets a database back to a copy, which nobody writes meanwhile; indexes stay. */
export async function setBackDocuments(
  db: Db,
  copy: Collections,
  onChange: (collection: string) => void = () => undefined,
): Promise<void> {
  for (const [name, present] of await readDocuments(db)) {
    const kept = copy.get(name) ?? new Map<string, Uint8Array>()
    const ids = new Set([...present.keys(), ...kept.keys()])
    const changed = [...ids].filter((id) => !isSame(present.get(id), kept.get(id)))
    for (const _ of changed) onChange(name)
    for (let at = 0; at < changed.length; at += chunk) {
      const some = changed.slice(at, at + chunk)
      const gone = some.flatMap((id) => present.get(id) ?? []).map((bytes) => decode(bytes)._id)
      const back = some.flatMap((id) => kept.get(id) ?? []).map(decode)
      if (gone.length > 0) await db.collection(name).deleteMany({ _id: { $in: gone } })
      if (back.length > 0) await db.collection(name).insertMany(back)
    }
  }
}

function decode(bytes: Uint8Array): Document {
  return BSON.deserialize(bytes, { promoteValues: false })
}

function isSame(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  return one !== undefined && other !== undefined && Buffer.compare(one, other) === 0
}
