import { BsonView } from '../bson/bson-view.ts'
import { isRecord } from '../bson/statement-at.ts'
import { mongoCode } from '../errors/error-codes.ts'
import { MongoError } from '../errors/mongo-error.ts'
import { serverVersion } from '../state/server-info.ts'
import { type Answer, type Command, type Engine, firstValue, type Handler, query } from './command.ts'

const functions = new Map([
  ['find', 'bson_aggregation_find'],
  ['aggregate', 'bson_aggregation_pipeline'],
  ['count', 'bson_aggregation_count'],
  ['distinct', 'bson_aggregation_distinct'],
])

/** Explains find, aggregate, count and distinct by PostgreSQL's plan. */
export const explain: Handler = (command, engine) => {
  const inner = command.view.embedded('explain')
  if (inner === null) throw new MongoError(mongoCode.badValue, 'explain needs a command')
  return explainReply(command, engine, inner, command.view.string('verbosity') ?? 'allPlansExecution')
}

/** The plan in MongoDB's words as far as they fit, and PostgreSQL's own below. */
export async function explainReply(
  command: Command,
  engine: Engine,
  inner: Buffer,
  verbosity: string,
): Promise<Answer> {
  const view = new BsonView(inner)
  const name = view.first?.name ?? ''
  const source = functions.get(name)
  if (source === undefined)
    throw new MongoError(mongoCode.commandNotSupported, `explain of ${name} is not supported`)
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
