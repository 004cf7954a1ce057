import type { Entry, JournalDocument } from '@pitboss/storage/journal/journal'
import type { StreamKey } from '@pitboss/storage/journal/journal-keys'
import {
  entryOf,
  mongodbJournal,
  type StoredDocument,
  type StoredEntry,
  storedOf,
} from '@pitboss/storage/journal/mongodb-journal'
import type { Db } from 'mongodb'

/** The entries of a service's journal, of one stream or of all, by their keys. */
export async function readEntries<Fact>(db: Db, stream?: StreamKey): Promise<Entry<Fact>[]> {
  if (stream !== undefined) return [...(await mongodbJournal<Fact>(db).readEntries(stream))]
  const all = db.collection<StoredEntry>('journal').find({ z: { $exists: true } })
  return (await all.sort({ _id: 1 }).toArray()).map((stored) => entryOf<Fact>(stored))
}

/** Adds entries and claims to a service's journal, as its processes do. */
export async function writeEntries<Fact>(db: Db, documents: readonly JournalDocument<Fact>[]): Promise<void> {
  await db.collection<StoredDocument>('journal').insertMany(documents.map(storedOf))
}
