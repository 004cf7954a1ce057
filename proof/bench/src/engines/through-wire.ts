import { randomUUID } from 'node:crypto'
import { type Document, Long, UUID } from 'bson'
import { newDocument, type Operations, ownIds, seeded } from './operations.ts'
import type { WireConnection } from './wire-connection.ts'

const writeConcern = { w: 'majority', j: true }

/** The operations as bare commands over the wire: the gateway without the driver's own work. */
export function throughWire(connections: readonly WireConnection[], database: string): Operations {
  const versions = new Map<number, number>()
  const sessions = new Map<number, { lsid: { id: UUID }; txnNumber: bigint }>()
  let next = 0
  const run = (caller: number, command: Document): Promise<Document> => {
    const connection = connections[caller % connections.length]
    if (connection === undefined) throw new Error('there is no connection')
    return connection.command({ ...command, $db: database })
  }
  const find = async (caller: number, command: Document): Promise<Document[]> => {
    const { cursor } = await run(caller, command)
    return cursor.firstBatch
  }
  return {
    async insert(caller) {
      const number = next++
      const documents = [newDocument(`wire-${number}`, 3_000_000 + number)]
      const { n } = await run(caller, { insert: 'items', documents, ordered: true, writeConcern })
      if (n !== 1) throw new Error('nothing was inserted')
    },
    async findById(caller) {
      const filter = { _id: `seed-${next++ % seeded.documents}` }
      const found = await find(caller, { find: 'items', filter, limit: 1, singleBatch: true })
      if (found.length !== 1) throw new Error('not found')
    },
    async fencedUpdate(caller) {
      const [_id] = ownIds(caller)
      const known = versions.get(caller)
      const version =
        known ?? Number((await find(caller, { find: 'items', filter: { _id }, limit: 1 }))[0]?.version)
      const { value } = await run(caller, {
        findAndModify: 'items',
        query: { _id, version },
        update: { $set: { at: new Date() }, $inc: { version: 1 } },
        new: true,
        writeConcern,
      })
      if (value === null) throw new Error('the fence was lost')
      versions.set(caller, Number(value.version))
    },
    async page(caller) {
      const from = (next++ * 97) % (seeded.pageDocuments - seeded.pageSize)
      const filter = { scope: seeded.scope, seq: { $gte: from } }
      const command = { find: 'pages', filter, sort: { seq: 1 }, limit: seeded.pageSize }
      const found = await find(caller, command)
      if (found.length !== seeded.pageSize) throw new Error(`a page of ${found.length}`)
    },
    async transaction(caller) {
      const session = sessions.get(caller) ?? { lsid: { id: new UUID(randomUUID()) }, txnNumber: 0n }
      session.txnNumber += 1n
      sessions.set(caller, session)
      const { lsid } = session
      const part = { lsid, txnNumber: Long.fromBigInt(session.txnNumber), autocommit: false }
      for (const [index, _id] of ownIds(caller).entries()) {
        const updates = [{ q: { _id }, u: { $set: { at: new Date() }, $inc: { seq: 1 } } }]
        const start = index === 0 ? { startTransaction: true } : {}
        await run(caller, { update: 'items', updates, ...part, ...start })
      }
      const connection = connections[caller % connections.length]
      await connection?.command({ commitTransaction: 1, ...part, writeConcern, $db: 'admin' })
    },
  }
}
