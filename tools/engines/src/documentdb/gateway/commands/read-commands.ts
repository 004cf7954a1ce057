import { mongoCode } from '../errors/error-codes.ts'
import { MongoError } from '../errors/mongo-error.ts'
import type { Row } from '../postgres/postgres-connection.ts'
import { type Answer, bare, type Command, type Engine, firstValue, type Handler, query } from './command.ts'
import { explainReply } from './explain.ts'

const columns = 'select cursorpage, continuation, cursorid'
const findText = `${columns} from documentdb_api.find_cursor_first_page($1, $2)`
const aggregateText = `${columns} from documentdb_api.aggregate_cursor_first_page($1, $2)`
const listCollectionsText = `${columns} from documentdb_api.list_collections_cursor_first_page($1, $2)`
const listIndexesText = `${columns} from documentdb_api.list_indexes_cursor_first_page($1, $2)`
const getMoreText = 'select cursorpage, continuation from documentdb_api.cursor_get_more($1, $2, $3)'
const countText = 'select document from documentdb_api.count_query($1, $2)'
const distinctText = 'select document from documentdb_api.distinct_query($1, $2)'
const deleteCursors = 'select documentdb_api_internal.delete_cursors($1::text::bigint[])'

const read = (command: Command, engine: Engine, text: string, bytes: Buffer) =>
  query(command, engine, text, [command.database, bytes], 'reads')

export const find: Handler = async (command, engine) =>
  firstPage(command, engine, await read(command, engine, findText, command.view.bytes))

export const aggregate: Handler = async (command, engine) => {
  if (command.view.boolean('explain') === true) {
    return explainReply(command, engine, command.view.without(new Set(['explain'])), 'queryPlanner')
  }
  return firstPage(command, engine, await read(command, engine, aggregateText, command.view.bytes))
}

export const listCollections: Handler = async (command, engine) =>
  firstPage(command, engine, await read(command, engine, listCollectionsText, bare(command)))

export const listIndexes: Handler = async (command, engine) =>
  firstPage(command, engine, await read(command, engine, listIndexesText, bare(command)))

export const count: Handler = async (command, engine) =>
  firstValue(await read(command, engine, countText, command.view.bytes))

export const distinct: Handler = async (command, engine) =>
  firstValue(await read(command, engine, distinctText, command.view.bytes))

export const getMore: Handler = async (command, engine) => {
  const id = command.view.integer('getMore')
  if (id === null) throw new MongoError(mongoCode.badValue, 'getMore needs the id of a cursor')
  const cursor = engine.cursors.borrow(id)
  try {
    const parameters = [command.database, command.view.bytes, cursor.continuation]
    const rows = await query(command, engine, getMoreText, parameters, 'reads')
    engine.cursors.advance(cursor, rows[0]?.[1] ?? null, Date.now())
    return firstValue(rows)
  } finally {
    engine.cursors.release(cursor)
  }
}

export const killCursors: Handler = async (command, engine) => {
  const { cursors } = command.view.parse()
  const ids = Array.isArray(cursors) ? cursors.map((id) => BigInt(String(id))) : []
  const killed = ids.filter((id) => engine.cursors.remove(id))
  await deleteInEngine(engine, killed)
  const missing = ids.filter((id) => !killed.includes(id))
  return { cursorsKilled: killed, cursorsNotFound: missing, cursorsAlive: [], cursorsUnknown: [], ok: 1 }
}

/** Frees the results that the engine keeps for abandoned cursors. */
export async function deleteInEngine(engine: Engine, ids: readonly bigint[]): Promise<void> {
  if (ids.length === 0) return
  await engine.reads.use((connection) => connection.query(deleteCursors, [`{${ids.join(',')}}`]))
}

async function firstPage(command: Command, engine: Engine, rows: readonly Row[]): Promise<Answer> {
  const [row] = rows
  const continuation = row?.[1]
  const id = row?.[2]?.readBigInt64BE(0)
  if (continuation && id !== undefined) {
    const evicted = engine.cursors.add(id, continuation, command.session, Date.now())
    if (evicted !== null) await deleteInEngine(engine, [evicted])
  }
  return firstValue(rows)
}
