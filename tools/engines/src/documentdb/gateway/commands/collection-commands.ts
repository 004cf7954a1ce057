import { deserialize } from 'bson'
import { BsonView, isRecord } from '../bson/bson-view.ts'
import { mongoCode } from '../errors/error-codes.ts'
import { codeOfPacked, MongoError } from '../errors/mongo-error.ts'
import { bare, type Command, type Engine, firstValue, type Handler, isTrue, query } from './command.ts'

const createText = 'select documentdb_api.create_collection_view($1, $2)'
const dropText = 'select documentdb_api.drop_collection($1, $2)'
const dropDatabaseText = 'select documentdb_api.drop_database($1)'
const collModText = 'select documentdb_api.coll_mod($1, $2, $3)'
const renameText = 'select documentdb_api.rename_collection($1)'
const listDatabasesText = 'select documentdb_api.list_databases($1)'
const collStatsText = 'select documentdb_api.coll_stats($1, $2, $3::text::float8)'
const dbStatsText = 'select documentdb_api.db_stats($1, $2::text::float8)'
const validateText = 'select document from documentdb_api.validate($1, $2)'

/** Commands about databases, collections and indexes as wholes, by name. */
export const collectionCommands: Record<string, Handler> = {
  create: async (command, engine) =>
    firstValue(await query(command, engine, createText, [command.database, bare(command, ['idIndex'])])),

  /** Dropping a missing collection is fine, as it is since MongoDB 7. */
  drop: async (command, engine) => {
    const { database, collection } = command
    const indexes = await indexCount(command, engine)
    const dropping = query(command, engine, dropText, [database, collection])
    const rows = await forgetting(engine, database, collection, dropping)
    return isTrue(rows[0]?.[0]) ? { ns: `${database}.${collection}`, nIndexesWas: indexes, ok: 1 } : { ok: 1 }
  },

  dropDatabase: async (command, engine) => {
    await forgetting(
      engine,
      command.database,
      undefined,
      query(command, engine, dropDatabaseText, [command.database]),
    )
    return { dropped: command.database, ok: 1 }
  },

  collMod: async (command, engine) =>
    firstValue(
      await query(command, engine, collModText, [command.database, command.collection, bare(command)]),
    ),

  renameCollection: async (command, engine) => {
    const [database = '', ...collection] = (command.view.string('renameCollection') ?? '').split('.')
    const renaming = query(command, engine, renameText, [bare(command)])
    return firstValue(await forgetting(engine, database, collection.join('.'), renaming))
  },

  listDatabases: async (command, engine) =>
    firstValue(await query(command, engine, listDatabasesText, [bare(command)], 'reads')),

  collStats: async (command, engine) => {
    const parameters = [command.database, command.collection, scale(command)]
    return firstValue(await query(command, engine, collStatsText, parameters, 'reads'))
  },

  dbStats: async (command, engine) =>
    firstValue(await query(command, engine, dbStatsText, [command.database, scale(command)], 'reads')),

  validate: async (command, engine) =>
    firstValue(await query(command, engine, validateText, [command.database, bare(command)], 'reads')),

  /** Creates indexes and answers when they are built: alone in the collection, in one transaction. */
  createIndexes: async (command, engine) => {
    refuseInTransaction(command)
    const { database, collection } = command
    const rows = await engine.gate.inside(`${database}.${collection}`, true, () =>
      engine.writes.use((connection) =>
        connection.query(createIndexesText, [database, bare(command, ['commitQuorum'])]),
      ),
    )
    engine.duplicateKeys.forget(database, collection)
    return firstValue(rows)
  },

  dropIndexes: async (command, engine) => {
    refuseInTransaction(command)
    const rows = await engine.writes.use((connection) =>
      connection.query(dropIndexesText, [command.database, bare(command)]),
    )
    const reply: Record<string, unknown> = deserialize(firstValue(rows))
    if (!reply.ok) throw failureOf(firstValue(rows))
    engine.duplicateKeys.forget(command.database, command.collection)
    return { ...reply, ok: 1 }
  },
}

function scale(command: Command): string {
  const given = command.view.integer('scale') ?? 1n
  if (given < 1n) throw new MongoError(mongoCode.BadValue, 'scale must be at least 1')
  return String(given)
}

async function indexCount(command: Command, engine: Engine): Promise<number> {
  if (command.transaction !== null) return 1
  const parameters = [command.database, command.collection, '1']
  const [row] = await query(command, engine, collStatsText, parameters, 'reads')
  const count = row?.[0] ? new BsonView(row[0]).integer('nindexes') : null
  return Number(count ?? 1n)
}

const createIndexesText = 'select documentdb_api_internal.create_indexes_non_concurrently($1, $2, true)'
const dropIndexesText = 'call documentdb_api.drop_indexes($1, $2, null)'

function refuseInTransaction(command: Command): void {
  if (command.transaction === null) return
  throw new MongoError(
    mongoCode.OperationNotSupportedInTransaction,
    `Cannot run ${command.name} in a multi-document transaction`,
  )
}

/** The engine lists failures by shard; there is one. */
function failureOf(bytes: Buffer): MongoError {
  const reply: Record<string, unknown> = deserialize(bytes)
  const shards = isRecord(reply.raw) ? Object.values(reply.raw).filter(isRecord) : []
  const failed = shards.find((shard) => shard.errmsg !== undefined) ?? reply
  return new MongoError(codeOfPacked(Number(failed.code), false), String(failed.errmsg))
}

/** Drops a namespace's cached indexes together with the namespace. */
async function forgetting<Result>(
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
