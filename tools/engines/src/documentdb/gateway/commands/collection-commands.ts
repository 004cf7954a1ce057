import { BsonView } from '../bson/bson-view.ts'
import { mongoCode } from '../errors/error-codes.ts'
import { MongoError } from '../errors/mongo-error.ts'
import { bare, type Command, type Engine, firstValue, type Handler, isTrue, query } from './command.ts'
import { forgetting } from './index-commands.ts'

const createText = 'select documentdb_api.create_collection_view($1, $2)'
const dropText = 'select documentdb_api.drop_collection($1, $2)'
const dropDatabaseText = 'select documentdb_api.drop_database($1)'
const collModText = 'select documentdb_api.coll_mod($1, $2, $3)'
const renameText = 'select documentdb_api.rename_collection($1)'
const listDatabasesText = 'select documentdb_api.list_databases($1)'
const collStatsText = 'select documentdb_api.coll_stats($1, $2, $3::text::float8)'
const dbStatsText = 'select documentdb_api.db_stats($1, $2::text::float8)'
const validateText = 'select document from documentdb_api.validate($1, $2)'

export const create: Handler = async (command, engine) =>
  firstValue(await query(command, engine, createText, [command.database, bare(command, ['idIndex'])]))

/** Dropping a missing collection is fine, as it is since MongoDB 7. */
export const drop: Handler = async (command, engine) => {
  const { database, collection } = command
  const indexes = await indexCount(command, engine)
  const dropping = query(command, engine, dropText, [database, collection])
  const rows = await forgetting(engine, database, collection, dropping)
  return isTrue(rows[0]?.[0]) ? { ns: `${database}.${collection}`, nIndexesWas: indexes, ok: 1 } : { ok: 1 }
}

export const dropDatabase: Handler = async (command, engine) => {
  await forgetting(
    engine,
    command.database,
    undefined,
    query(command, engine, dropDatabaseText, [command.database]),
  )
  return { dropped: command.database, ok: 1 }
}

export const collMod: Handler = async (command, engine) =>
  firstValue(await query(command, engine, collModText, [command.database, command.collection, bare(command)]))

export const renameCollection: Handler = async (command, engine) => {
  const [database = '', ...collection] = (command.view.string('renameCollection') ?? '').split('.')
  const renaming = query(command, engine, renameText, [bare(command)])
  return firstValue(await forgetting(engine, database, collection.join('.'), renaming))
}

export const listDatabases: Handler = async (command, engine) =>
  firstValue(await query(command, engine, listDatabasesText, [bare(command)], 'reads'))

export const collStats: Handler = async (command, engine) => {
  const parameters = [command.database, command.collection, scale(command)]
  return firstValue(await query(command, engine, collStatsText, parameters, 'reads'))
}

export const dbStats: Handler = async (command, engine) =>
  firstValue(await query(command, engine, dbStatsText, [command.database, scale(command)], 'reads'))

export const validate: Handler = async (command, engine) =>
  firstValue(await query(command, engine, validateText, [command.database, bare(command)], 'reads'))

function scale(command: Command): string {
  const given = command.view.integer('scale') ?? 1n
  if (given < 1n) throw new MongoError(mongoCode.badValue, 'scale must be at least 1')
  return String(given)
}

async function indexCount(command: Command, engine: Engine): Promise<number> {
  if (command.transaction !== null) return 1
  const parameters = [command.database, command.collection, '1']
  const [row] = await query(command, engine, collStatsText, parameters, 'reads')
  const count = row?.[0] ? new BsonView(row[0]).integer('nindexes') : null
  return Number(count ?? 1n)
}
