import { BsonView, isRecord } from '../bson/bson-view.ts'
import { mongoCode } from '../errors/error-codes.ts'
import { MongoError } from '../errors/mongo-error.ts'
import type { Row } from '../postgres/postgres-connection.ts'
import {
  type Answer,
  bare,
  type Command,
  deleteInEngine,
  type Engine,
  firstValue,
  type Handler,
  query,
  serverVersion,
} from './command.ts'

const columns = 'select cursorpage, continuation, cursorid'
const findText = `${columns} from documentdb_api.find_cursor_first_page($1, $2)`
const aggregateText = `${columns} from documentdb_api.aggregate_cursor_first_page($1, $2)`
const listCollectionsText = `${columns} from documentdb_api.list_collections_cursor_first_page($1, $2)`
const listIndexesText = `${columns} from documentdb_api.list_indexes_cursor_first_page($1, $2)`
const getMoreText = 'select cursorpage, continuation from documentdb_api.cursor_get_more($1, $2, $3)'
const countText = 'select document from documentdb_api.count_query($1, $2)'
const distinctText = 'select document from documentdb_api.distinct_query($1, $2)'

const read = (command: Command, engine: Engine, text: string, bytes: Buffer) =>
  query(command, engine, text, [command.database, bytes], 'reads')

/** Commands that read documents or name what there is, by name. */
export const readCommands: Record<string, Handler> = {
  find: async (command, engine) =>
    firstPage(command, engine, await read(command, engine, findText, command.view.bytes)),

  aggregate: async (command, engine) => {
    if (command.view.boolean('explain') === true) {
      return explainReply(command, engine, command.view.without(new Set(['explain'])), 'queryPlanner')
    }
    return firstPage(command, engine, await read(command, engine, aggregateText, command.view.bytes))
  },

  listCollections: async (command, engine) =>
    firstPage(command, engine, await read(command, engine, listCollectionsText, bare(command))),

  listIndexes: async (command, engine) =>
    firstPage(command, engine, await read(command, engine, listIndexesText, bare(command))),

  count: async (command, engine) => firstValue(await read(command, engine, countText, command.view.bytes)),

  distinct: async (command, engine) =>
    firstValue(await read(command, engine, distinctText, command.view.bytes)),

  getMore: async (command, engine) => {
    const id = command.view.integer('getMore')
    if (id === null) throw new MongoError(mongoCode.BadValue, 'getMore needs the id of a cursor')
    const cursor = engine.cursors.borrow(id)
    try {
      const parameters = [command.database, command.view.bytes, cursor.continuation]
      const rows = await query(command, engine, getMoreText, parameters, 'reads')
      engine.cursors.advance(cursor, rows[0]?.[1] ?? null, Date.now())
      return firstValue(rows)
    } finally {
      engine.cursors.release(cursor)
    }
  },

  killCursors: async (command, engine) => {
    const { cursors } = command.view.parse()
    const ids = Array.isArray(cursors) ? cursors.map((id) => BigInt(String(id))) : []
    const killed = ids.filter((id) => engine.cursors.remove(id))
    await deleteInEngine(engine, killed)
    const missing = ids.filter((id) => !killed.includes(id))
    return { cursorsKilled: killed, cursorsNotFound: missing, cursorsAlive: [], cursorsUnknown: [], ok: 1 }
  },

  /** Explains find, aggregate, count and distinct by PostgreSQL's plan. */
  explain: (command, engine) => {
    const inner = command.view.embedded('explain')
    if (inner === null) throw new MongoError(mongoCode.BadValue, 'explain needs a command')
    return explainReply(command, engine, inner, command.view.string('verbosity') ?? 'allPlansExecution')
  },
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

const functions = new Map([
  ['find', 'bson_aggregation_find'],
  ['aggregate', 'bson_aggregation_pipeline'],
  ['count', 'bson_aggregation_count'],
  ['distinct', 'bson_aggregation_distinct'],
])

/** The plan in MongoDB's words as far as they fit, and PostgreSQL's own below. */
async function explainReply(
  command: Command,
  engine: Engine,
  inner: Buffer,
  verbosity: string,
): Promise<Answer> {
  const view = new BsonView(inner)
  const name = view.first?.name ?? ''
  const source = functions.get(name)
  if (source === undefined)
    throw new MongoError(mongoCode.CommandNotSupported, `explain of ${name} is not supported`)
  const run = verbosity !== 'queryPlanner'
  const text = `explain (format json, analyze ${run}) select document from documentdb_api_catalog.${source}($1, $2)`
  const rows = await query(command, engine, text, [command.database, inner], 'reads')
  const output: unknown = JSON.parse(firstValue(rows).toString())
  const top = Array.isArray(output) ? output[0] : null
  const plan = isRecord(top) && isRecord(top.Plan) ? top.Plan : {}
  return {
    explainVersion: '1',
    queryPlanner: {
      namespace: `${command.database}.${view.string(name) ?? '$cmd'}`,
      winningPlan: { ...stageOf(plan), postgresPlan: plan },
      rejectedPlans: [],
    },
    ...(run ? { executionStats: statistics(top, plan) } : {}),
    serverInfo: { version: serverVersion, engine: 'documentdb' },
    ok: 1,
  }
}

function statistics(top: unknown, plan: Record<string, unknown>): Record<string, unknown> {
  return {
    executionSuccess: true,
    nReturned: Number(plan['Actual Rows'] ?? 0),
    executionTimeMillis: Math.round(isRecord(top) ? Number(top['Execution Time'] ?? 0) : 0),
  }
}

function stageOf(plan: Record<string, unknown>): Record<string, unknown> {
  const inputs = Array.isArray(plan.Plans) ? plan.Plans.filter(isRecord).map(stageOf) : []
  const node = typeof plan['Node Type'] === 'string' ? plan['Node Type'] : 'unknown'
  const [inputStage] = inputs
  if (node === 'Custom Scan' && inputStage !== undefined && inputs.length === 1) return inputStage
  const input = inputs.length > 1 ? { inputStages: inputs } : inputStage === undefined ? {} : { inputStage }
  if (isWholeCollection(plan)) return { stage: 'COLLSCAN' }
  const index = plan['Index Name']
  return { stage: stageName(node), ...(index === undefined ? {} : { indexName: index }), ...input }
}

function stageName(node: string): string {
  if (/^Index( Only)? Scan$|^Bitmap Index Scan$/.test(node)) return 'IXSCAN'
  if (node === 'Seq Scan') return 'COLLSCAN'
  if (node === 'Sort' || node === 'Incremental Sort') return 'SORT'
  if (node === 'Limit') return 'LIMIT'
  if (node === 'Aggregate') return 'GROUP'
  return node.toUpperCase().replaceAll(' ', '_')
}

/** The engine walks the `_id` index with nothing but the collection's number when no index helps. */
function isWholeCollection(plan: Record<string, unknown>): boolean {
  const condition = plan['Index Cond']
  return plan['Index Name'] === '_id_' && typeof condition === 'string' && !condition.includes('object_id')
}
