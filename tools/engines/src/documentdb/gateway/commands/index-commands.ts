import { deserialize } from 'bson'
import { setTimeout as delay } from 'node:timers/promises'
import { isRecord } from '../bson/statement-at.ts'
import { mongoCode } from '../errors/error-codes.ts'
import { MongoError } from '../errors/mongo-error.ts'
import { codeOfPacked } from '../errors/translate-error.ts'
import type { PostgresConnection } from '../postgres/postgres-connection.ts'
import { bare, type Command, type Engine, firstValue, type Handler, isTrue } from './command.ts'

const createText = 'select retval, ok, requests from documentdb_api.create_indexes_background($1, $2)'
const buildText = 'call documentdb_api_internal.build_index_concurrently(1)'
const statusText = 'select retval, ok, complete from documentdb_api_internal.check_build_index_status($1)'
const dropText = 'call documentdb_api.drop_indexes($1, $2, null)'
const buildMsMax = 10 * 60_000
const emptyDocumentBytes = 5

/**
 * Creates indexes and answers when they are built: alone in the collection, and built here rather than by a
 * job.
 */
export const createIndexes: Handler = async (command, engine) => {
  refuseInTransaction(command)
  const { database, collection } = command
  const reply = await engine.gate.inside(`${database}.${collection}`, true, () =>
    engine.writes.use(async (connection) => {
      const rows = await connection.query(createText, [database, bare(command, ['commitQuorum'])])
      if (!isTrue(rows[0]?.[1])) throw failureOf(firstValue(rows))
      const requests = rows[0]?.[2]
      if (requests && requests.length > emptyDocumentBytes) await build(connection, Buffer.from(requests))
      return firstValue(rows)
    }),
  )
  engine.duplicateKeys.forget(database, collection)
  return reply
}

export const dropIndexes: Handler = async (command, engine) => {
  refuseInTransaction(command)
  const rows = await engine.writes.use((connection) =>
    connection.query(dropText, [command.database, bare(command)]),
  )
  const reply: Record<string, unknown> = deserialize(firstValue(rows))
  if (!reply.ok) throw failureOf(firstValue(rows))
  engine.duplicateKeys.forget(command.database, command.collection)
  return { ...reply, ok: 1 }
}

function refuseInTransaction(command: Command): void {
  if (command.transaction === null) return
  throw new MongoError(
    mongoCode.notSupportedInTransaction,
    `Cannot run ${command.name} in a multi-document transaction`,
  )
}

async function build(connection: PostgresConnection, requests: Buffer): Promise<void> {
  const deadlineMs = performance.now() + buildMsMax
  for (let waitMs = 5; performance.now() < deadlineMs; waitMs = Math.min(waitMs * 2, 200)) {
    await connection.query(buildText)
    const rows = await connection.query(statusText, [requests])
    if (!isTrue(rows[0]?.[1])) throw failureOf(firstValue(rows))
    if (isTrue(rows[0]?.[2])) return
    await delay(waitMs)
  }
  throw new MongoError(mongoCode.exceededTimeLimit, 'the index was not built in time')
}

/** The engine lists failures by shard; there is one. */
function failureOf(bytes: Buffer): MongoError {
  const reply: Record<string, unknown> = deserialize(bytes)
  const shards = isRecord(reply.raw) ? Object.values(reply.raw).filter(isRecord) : []
  const failed = shards.find((shard) => shard.errmsg !== undefined) ?? reply
  return new MongoError(codeOfPacked(Number(failed.code), false), String(failed.errmsg))
}

/** Drops a namespace's cached indexes together with the namespace. */
export async function forgetting<Result>(
  engine: Engine,
  database: string,
  collection: string | undefined,
  work: Promise<Result>,
): Promise<Result> {
  try {
    return await work
  } finally {
    engine.duplicateKeys.forget(database, collection)
  }
}
