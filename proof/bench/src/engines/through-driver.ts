import type { MongoClient } from 'mongodb'
import { newDocument, type Operations, ownIds, seeded } from './operations.ts'

type Doc = { _id: string; version: number; scope: string; seq: number; at: Date | null }

/** The operations as our services do them: the MongoDB driver, the wire, the gateway. */
export function throughDriver(client: MongoClient, database: string): Operations {
  const items = client.db(database).collection<Doc>('items')
  const pages = client.db(database).collection<Doc>('pages')
  const versions = new Map<number, number>()
  let next = 0
  return {
    async insert() {
      const number = next++
      await items.insertOne(newDocument(`driver-${number}`, 1_000_000 + number))
    },
    async findById() {
      const found = await items.findOne({ _id: `seed-${next++ % seeded.documents}` })
      if (found === null) throw new Error('not found')
    },
    async fencedUpdate(caller) {
      const [_id] = ownIds(caller)
      const version = versions.get(caller) ?? (await items.findOne({ _id }))?.version ?? 0
      const update = { $set: { at: new Date() }, $inc: { version: 1 } }
      const after = await items.findOneAndUpdate({ _id, version }, update, { returnDocument: 'after' })
      if (after === null) throw new Error('the fence was lost')
      versions.set(caller, after.version)
    },
    async page() {
      const from = (next++ * 97) % (seeded.pageDocuments - seeded.pageSize)
      const filter = { scope: seeded.scope, seq: { $gte: from } }
      const found = await pages.find(filter).sort({ seq: 1 }).limit(seeded.pageSize).toArray()
      if (found.length !== seeded.pageSize) throw new Error(`a page of ${found.length}`)
    },
    async transaction(caller) {
      await client.withSession((session) =>
        session.withTransaction(async () => {
          for (const _id of ownIds(caller)) {
            await items.updateOne({ _id }, { $set: { at: new Date() }, $inc: { seq: 1 } }, { session })
          }
        }),
      )
    },
  }
}
