import type { Db, Document } from 'mongodb'

const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/

/** Documents as a file holds them, by collection. */
export type RecordedDocuments = Readonly<Record<string, readonly ({ _id: string } & Document)[]>>

/** Replaces what the collections hold by recorded documents; texts that are instants become dates. */
export async function restoreDocuments(db: Db, recorded: RecordedDocuments): Promise<void> {
  for (const [name, documents] of Object.entries(recorded)) {
    const collection = db.collection<{ _id: string }>(name)
    await collection.deleteMany({})
    await collection.insertMany(
      documents.map(({ _id, ...fields }) => ({ _id, ...Object.assign({}, withDates(fields)) })),
    )
  }
}

function withDates(value: unknown): unknown {
  if (typeof value === 'string') return instant.test(value) ? new Date(value) : value
  if (Array.isArray(value)) return value.map(withDates)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, withDates(part)]))
}
