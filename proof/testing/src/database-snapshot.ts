import { isDeepStrictEqual } from 'node:util'
import { BSON, type Db, type Document } from 'mongodb'
import { emptyCollections, fullCollections } from './empty-databases.ts'

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
}

/** Reads a small database whole. */
export async function snapshotOf(db: Db): Promise<Snapshot> {
  const names = (await fullCollections(db)).toSorted()
  const byCollection = new Map<string, Document[]>()
  const documents = new Map<string, string>()
  const found = names.map((name) => db.collection(name).find({}).sort({ _id: 1 }).toArray())
  for (const [index, rows] of (await Promise.all(found)).entries()) {
    const name = names[index] ?? ''
    byCollection.set(name, rows)
    for (const one of rows)
      documents.set(`${name}/${String(one._id)}`, BSON.EJSON.stringify(one, { relaxed: false }))
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
    async restore() {
      await emptyCollections(db)
      await Promise.all([...byCollection].map(([name, rows]) => db.collection(name).insertMany(rows)))
    },
  }
}
