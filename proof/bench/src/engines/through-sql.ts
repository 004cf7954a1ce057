import type {
  PostgresConnection,
  Row,
} from '@pitboss/engines/documentdb/gateway/postgres/postgres-connection'
import { deserialize, type Document, serialize } from 'bson'
import { newDocument, type Operations, ownIds, seeded } from './operations.ts'

const insertText = 'select p_result, p_success from documentdb_api.insert($1, $2, $3)'
const updateText = 'select p_result, p_success from documentdb_api.update($1, $2, $3)'
const modifyText = 'select p_result, p_success from documentdb_api.find_and_modify($1, $2)'
const findText = 'select cursorpage from documentdb_api.find_cursor_first_page($1, $2)'

const writeConcern = { w: 'majority', j: true }

/**
 * The same operations by the extension's SQL functions over the gateway's own PostgreSQL client: the work
 * without wire protocol and gateway.
 */
export function throughSql(connections: readonly PostgresConnection[], database: string): Operations {
  const versions = new Map<number, number>()
  let next = 0
  const of = (caller: number) => {
    const connection = connections[caller % connections.length]
    if (connection === undefined) throw new Error('there is no connection')
    return connection
  }
  const bytes = (command: Document) => Buffer.from(serialize({ ...command, $db: database }))
  const first = (rows: readonly Row[]): Document => {
    const value = rows[0]?.[0]
    if (!value) throw new Error('the function gave nothing')
    return deserialize(value, { promoteLongs: true })
  }
  const batch = async (caller: number, command: Document): Promise<unknown[]> => {
    const answer = first(await of(caller).query(findText, [database, bytes(command)]))
    const found: unknown = answer.cursor?.firstBatch
    return Array.isArray(found) ? found : []
  }
  const update = (caller: number, _id: string) => {
    const updates = [{ q: { _id }, u: { $set: { at: new Date() }, $inc: { seq: 1 } } }]
    return of(caller).query(updateText, [database, bytes({ update: 'items', updates }), null])
  }
  return {
    async insert(caller) {
      const number = next++
      const documents = [newDocument(`sql-${number}`, 2_000_000 + number)]
      const answer = first(
        await of(caller).query(insertText, [
          database,
          bytes({ insert: 'items', documents, ordered: true, writeConcern }),
          null,
        ]),
      )
      if (Number(answer.n) !== 1) throw new Error('nothing was inserted')
    },
    async findById(caller) {
      const filter = { _id: `seed-${next++ % seeded.documents}` }
      const found = await batch(caller, { find: 'items', filter, limit: 1, singleBatch: true })
      if (found.length !== 1) throw new Error('not found')
    },
    async fencedUpdate(caller) {
      const [_id] = ownIds(caller)
      const version = versions.get(caller) ?? (await currentVersion(caller, _id))
      const answer = first(
        await of(caller).query(modifyText, [
          database,
          bytes({
            findAndModify: 'items',
            query: { _id, version },
            update: { $set: { at: new Date() }, $inc: { version: 1 } },
            new: true,
            writeConcern,
          }),
        ]),
      )
      const after: unknown = answer.value?.version
      if (after === undefined) throw new Error('the fence was lost')
      versions.set(caller, Number(after))
    },
    async page(caller) {
      const from = (next++ * 97) % (seeded.pageDocuments - seeded.pageSize)
      const filter = { scope: seeded.scope, seq: { $gte: from } }
      const command = { find: 'pages', filter, sort: { seq: 1 }, limit: seeded.pageSize }
      const found = await batch(caller, command)
      if (found.length !== seeded.pageSize) throw new Error(`a page of ${found.length}`)
    },
    async transaction(caller) {
      const connection = of(caller)
      const [first, ...rest] = ownIds(caller)
      // the first update need not wait for the answer to BEGIN, and with the gateway it does not
      await Promise.all([connection.simple('begin isolation level repeatable read'), update(caller, first)])
      for (const _id of rest) await update(caller, _id)
      await connection.simple('commit')
    },
  }

  /** The driver's side changes the same documents in its turns. */
  async function currentVersion(caller: number, _id: string): Promise<number> {
    const [document] = await batch(caller, { find: 'items', filter: { _id }, limit: 1 })
    if (typeof document !== 'object' || document === null || !('version' in document))
      throw new Error('not found')
    return Number(document.version)
  }
}
