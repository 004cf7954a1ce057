import { serialize } from 'bson'
import { BsonView, documentsIn } from '../bson/bson-view.ts'
import { mongoCode } from '../errors/error-codes.ts'
import { lostRace, MongoError } from '../errors/mongo-error.ts'
import type { Row } from '../postgres/postgres-connection.ts'
import { type Command, type Engine, type Handler, isTrue, query } from './command.ts'
import { attemptsMax, readReply } from './write-commands.ts'

/** Inserts of one collection, one after the other in the command. */
type Run = {
  readonly database: string
  readonly collection: string
  readonly documents: Buffer[]
  /** The number of its first operation. */
  readonly first: number
}

/** What became of a run: its error, by the number of the operation; null where all are inserted. */
type RunResult = { readonly inserted: number; readonly error: Record<string, unknown> | null }

/**
 * The part of `bulkWrite` that the product uses: ordered inserts. Two collections that follow one another are
 * written in one transaction, with one sync of the disk. Source: the MongoDB manual, "bulkWrite (database
 * command)".
 */
export const bulkWrite: Handler = async (command, engine) => {
  const runs = readRuns(command)
  let inserted = 0
  let error: Record<string, unknown> | null = null
  for (let at = 0; at < runs.length && error === null; at += 2) {
    for (const result of await insertRuns(runs.slice(at, at + 2), command, engine)) {
      inserted += result.inserted
      error ??= result.error
    }
  }
  const firstBatch = error === null ? [] : [error]
  const counts = { nInserted: inserted, nMatched: 0, nModified: 0, nUpserted: 0, nDeleted: 0 }
  const cursor = { id: 0n, firstBatch, ns: 'admin.$cmd.bulkWrite' }
  return { cursor, nErrors: firstBatch.length, ...counts, ok: 1 }
}

function readRuns(command: Command): Run[] {
  const { view, database, transaction, txnNumber } = command
  if (database !== 'admin') throw new MongoError(mongoCode.Unauthorized, 'bulkWrite runs on admin')
  const isServed = view.boolean('ordered') !== false && view.boolean('errorsOnly') === true
  if (!isServed || transaction !== null || txnNumber !== null) throw notServed()
  const namespaces = documentsIn(command, 'nsInfo').map((one) => namespaceOf(new BsonView(one)))
  const runs: Run[] = []
  documentsIn(command, 'ops').forEach((bytes, number) => {
    const operation = new BsonView(bytes)
    const document = operation.embedded('document')
    if (operation.first?.name !== 'insert' || document === null) throw notServed()
    const index = Number(operation.integer('insert'))
    const namespace = namespaces[index]
    if (namespace === undefined) {
      throw new MongoError(mongoCode.BadValue, `BulkWrite ops entry ${number} has an invalid nsInfo index.`)
    }
    const last = runs.at(-1)
    const isSame = last?.database === namespace.database && last.collection === namespace.collection
    if (isSame) last.documents.push(document)
    else runs.push({ ...namespace, documents: [document], first: number })
  })
  if (runs.length > 0) return runs
  throw new MongoError(mongoCode.InvalidLength, 'Write batch sizes must be between 1 and 100000.')
}

function namespaceOf(view: BsonView) {
  const [, database, collection] = /^([^.]+)\.(.+)$/.exec(view.string('ns') ?? '') ?? []
  if (database !== undefined && collection !== undefined) return { database, collection }
  throw new MongoError(mongoCode.InvalidNamespace, 'invalid namespace in nsInfo')
}

function notServed(): MongoError {
  return new MongoError(
    mongoCode.CommandNotSupported,
    'bulkWrite serves ordered inserts with errorsOnly, outside transactions and without a txnNumber',
  )
}

/** Inserts one or two runs, the second only when the first is whole: both in one transaction. */
async function insertRuns(runs: readonly Run[], command: Command, engine: Engine): Promise<RunResult[]> {
  const [name, ...columns] = runs.length === 1 ? single : pair
  const text = `select ${columns.join(', ')} from ${name}`
  const parameters = runs.flatMap(({ database, collection, documents }) => [
    database,
    Buffer.from(serialize({ insert: collection, ordered: true })),
    Buffer.concat(documents),
  ])
  const rows = await inGates(runs, engine, () => query(command, engine, text, parameters))
  return runs.map((run, index) => resultOf(run, rows, index * 2))
}

const single = ['documentdb_api.insert($1, $2, $3)', 'p_result', 'p_success'] as const
const pair = [
  'pitboss_gateway.insert_in_turn($1, $2, $3, $4, $5, $6)',
  ...['p_result', 'p_success', 'p_result_2', 'p_success_2'],
] as const

/** Shared with other writes at first, then exclusive, until no deadlock is lost. */
async function inGates(runs: readonly Run[], engine: Engine, work: () => Promise<Row[]>): Promise<Row[]> {
  const names = [...new Set(runs.map(({ database, collection }) => `${database}.${collection}`))].toSorted()
  for (let number = 0; ; number++) {
    const entered = names.reduceRight<() => Promise<Row[]>>(
      (inner, name) => () => engine.gate.inside(name, number > 0, inner),
      work,
    )
    try {
      return await entered()
    } catch (error) {
      if (!lostRace(error) || number >= attemptsMax) throw error
    }
  }
}

function resultOf({ first, documents }: Run, [row = []]: readonly Row[], column: number): RunResult {
  const answer = row[column]
  // It was not begun.
  if (answer === null || answer === undefined) return { inserted: 0, error: null }
  if (isTrue(row[column + 1])) return { inserted: documents.length, error: null }
  const { reply, writeErrors } = readReply(answer, false)
  const [failed] = writeErrors
  const inserted = Number(reply.n)
  if (failed === undefined) return { inserted, error: null }
  const { index, code, errmsg } = failed
  return { inserted, error: { ok: 0, idx: first + Number(index), code, errmsg, n: 0 } }
}
