import { deserialize, EJSON, ObjectId, serialize } from 'bson'
import { type Command, firstValue } from '../commands/command.ts'
import type { PostgresPool } from '../postgres/postgres-pool.ts'
import { isRecord, statementAt } from '../bson/bson-view.ts'

export type DuplicateKey = {
  errmsg: string
  keyPattern: Record<string, unknown>
  keyValue: Record<string, unknown>
}

const indexesMax = 10_000
const listIndexes = 'select cursorpage from documentdb_api.list_indexes_cursor_first_page($1, $2)'
const findOne = 'select cursorpage from documentdb_api.find_cursor_first_page($1, $2)'

/**
 * Rebuilds what MongoDB tells about a violated unique index. The engine names only the index; the key's
 * values are those of the statement, completed from the stored document where an update leaves fields alone.
 */
export class DuplicateKeys {
  readonly #pool: PostgresPool
  readonly #patterns = new Map<string, Record<string, unknown>>()

  constructor(pool: PostgresPool) {
    this.#pool = pool
  }

  /** @returns null when the engine's message names no index that still exists. */
  async explain(command: Command, message: string, statementNumber: number): Promise<DuplicateKey | null> {
    const index = /[Ii]ndex[: ]+'?([^'\s,]+)'?/.exec(message)?.[1]
    if (index === undefined) return null
    const keyPattern = await this.#pattern(command, index)
    if (keyPattern === null) return null
    const statement = statementAt(command, statementNumber)
    const written = statement === null ? {} : writtenDocument(statement)
    const paths = Object.keys(keyPattern)
    const filter = statement?.filter
    const partial = filter !== undefined && paths.some((path) => valueAt(written, path) === undefined)
    const stored = partial ? await this.#stored(command, filter) : {}
    const keyValue = Object.fromEntries(
      paths.map((path) => [path, valueAt(written, path) ?? valueAt(stored, path) ?? null]),
    )
    const shown = paths.map((path) => `${path}: ${show(keyValue[path])}`).join(', ')
    const namespace = `${command.database}.${command.collection}`
    const errmsg = `E11000 duplicate key error collection: ${namespace} index: ${index} dup key: { ${shown} }`
    return { errmsg, keyPattern, keyValue }
  }

  /** Forgets the indexes of a collection or, without one, of a whole database. */
  forget(database: string, collection?: string): void {
    const prefix = collection === undefined ? `${database}.` : `${database}.${collection}\0`
    for (const key of this.#patterns.keys()) if (key.startsWith(prefix)) this.#patterns.delete(key)
  }

  async #pattern({ database, collection }: Command, index: string): Promise<Record<string, unknown> | null> {
    if (index === '_id_') return { _id: 1 }
    const key = (name: unknown) => `${database}.${collection}\0${String(name)}`
    const known = this.#patterns.get(key(index))
    if (known !== undefined) return known
    const command = Buffer.from(serialize({ listIndexes: collection }))
    const rows = await this.#pool.use((connection) => connection.query(listIndexes, [database, command]))
    if (this.#patterns.size > indexesMax) this.#patterns.clear()
    for (const found of firstBatch(firstValue(rows))) {
      if (isRecord(found.key)) this.#patterns.set(key(found.name), found.key)
    }
    return this.#patterns.get(key(index)) ?? null
  }

  async #stored({ database, collection }: Command, filter: object): Promise<Record<string, unknown>> {
    const command = Buffer.from(serialize({ find: collection, filter, limit: 1, singleBatch: true }))
    const rows = await this.#pool.use((connection) => connection.query(findOne, [database, command]))
    return firstBatch(firstValue(rows))[0] ?? {}
  }
}

function firstBatch(page: Buffer): Record<string, unknown>[] {
  const { cursor } = deserialize(page, { promoteValues: false })
  return isRecord(cursor) && Array.isArray(cursor.firstBatch) ? cursor.firstBatch.filter(isRecord) : []
}

/** The document that an insert or an update would have left, as far as the statement tells. */
function writtenDocument(statement: { document?: object; filter?: object; update?: unknown }): object {
  if (statement.document !== undefined) return statement.document
  const { filter = {}, update } = statement
  const written: Record<string, unknown> = {}
  for (const [path, value] of Object.entries(filter)) if (isEquality(path, value)) put(written, path, value)
  if (!isRecord(update)) return written
  const operators = Object.keys(update)[0]?.startsWith('$') === true
  const changes = operators ? { ...record(update.$setOnInsert), ...record(update.$set) } : update
  for (const [path, value] of Object.entries(changes)) put(written, path, value)
  return written
}

function isEquality(path: string, value: unknown): boolean {
  return !path.startsWith('$') && (!isRecord(value) || !Object.keys(value).some((key) => key.startsWith('$')))
}

function record(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {}
}

function put(target: Record<string, unknown>, path: string, value: unknown): void {
  const [head = '', ...rest] = path.split('.')
  if (rest.length === 0) {
    target[head] = value
    return
  }
  const inner = record(target[head])
  target[head] = { ...inner }
  put(record(target[head]), rest.join('.'), value)
}

function valueAt(document: unknown, path: string): unknown {
  let value = document
  for (const name of path.split('.')) {
    if (Array.isArray(value)) value = value.find((item) => isRecord(item) && item[name] !== undefined)
    value = isRecord(value) ? value[name] : undefined
  }
  return value
}

function show(value: unknown): string {
  if (value === undefined || value === null) return 'null'
  if (value instanceof ObjectId) return `ObjectId('${value.toHexString()}')`
  return EJSON.stringify(value, { relaxed: true })
}
