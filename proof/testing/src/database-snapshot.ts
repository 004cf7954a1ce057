import { isDeepStrictEqual } from 'node:util'
import { BSON, type Db, type Document } from 'mongodb'

/** All documents of a database at one moment. */
export type Snapshot = {
  /** By collection and id, as text. */
  readonly documents: ReadonlyMap<string, string>
  equals(other: Snapshot): boolean
  /** Documents of `earlier` that are gone or different now. */
  changedSince(earlier: Snapshot): string[]
  /** Documents that are gone, different or new since `earlier`. */
  differencesFrom(earlier: Snapshot): string[]
  /** Puts the database back into this state; indexes stay. */
  restore(): Promise<void>
  /** Removes all documents; indexes stay. */
  empty(): Promise<void>
}

/** Reads a small database whole. */
export async function snapshotOf(db: Db): Promise<Snapshot> {
  const names = (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name)
  const byCollection = new Map<string, Document[]>()
  const documents = new Map<string, string>()
  for (const name of names.toSorted()) {
    const found = await db.collection(name).find({}).sort({ _id: 1 }).toArray()
    byCollection.set(name, found)
    for (const one of found)
      documents.set(`${name}/${String(one._id)}`, BSON.EJSON.stringify(one, { relaxed: false }))
  }

  async function empty(): Promise<void> {
    for (const { name } of await db.listCollections({}, { nameOnly: true }).toArray())
      await db.collection(name).deleteMany({})
  }

  return {
    documents,
    equals: (other) => isDeepStrictEqual(documents, other.documents),
    changedSince: (earlier) =>
      [...earlier.documents].flatMap(([id, text]) => (documents.get(id) === text ? [] : [id])),
    differencesFrom: (earlier) => [
      ...[...earlier.documents].flatMap(([id, text]) =>
        documents.get(id) === text ? [] : [`${id} was ${text}`],
      ),
      ...[...documents].flatMap(([id, text]) =>
        earlier.documents.get(id) === text ? [] : [`${id} is ${text}`],
      ),
    ],
    empty,
    async restore() {
      await empty()
      for (const [name, rows] of byCollection) if (rows.length > 0) await db.collection(name).insertMany(rows)
    },
  }
}
