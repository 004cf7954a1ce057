import type { BsonView } from '../bson/bson-view.ts'
import type { DuplicateKeys } from '../errors/duplicate-keys.ts'
import { mongoCode } from '../errors/error-codes.ts'
import { MongoError } from '../errors/mongo-error.ts'
import type { Parameter } from '../postgres/encode-request.ts'
import type { Row } from '../postgres/postgres-connection.ts'
import type { PostgresPool } from '../postgres/postgres-pool.ts'
import type { Availability } from '../state/availability.ts'
import type { CollectionGate } from '../state/collection-gate.ts'
import type { CursorRegistry } from '../state/cursor-registry.ts'
import type { Login } from '../state/login.ts'
import type { Transaction, Transactions } from '../state/transactions.ts'

/** One connection. */
export type Client = {
  readonly id: number
  readonly address: string
  /** Null where nobody has to log in. */
  readonly login: Login | null
}

/** A command as it came, with what every handler needs read from it. */
export type Command = {
  name: string
  database: string
  /** The collection, for commands whose first field names one; else an empty string. */
  collection: string
  view: BsonView
  sequences: ReadonlyMap<string, Buffer>
  /** The session's UUID in hex. */
  session: string | null
  txnNumber: bigint | null
  transaction: Transaction | null
  client: Client
}

/** BSON as the engine gave it, or an object still to be written as BSON. */
export type Answer = Buffer | Record<string, unknown>

export type Handler = (command: Command, engine: Engine) => Promise<Answer> | Answer

/** The parts that the handlers work with. */
export type Engine = {
  availability: Availability
  /** Apart from `writes`, so that writes that wait for a transaction's lock do not hold up reads. */
  reads: PostgresPool
  writes: PostgresPool
  transactions: Transactions
  cursors: CursorRegistry
  gate: CollectionGate
  duplicateKeys: DuplicateKeys
  /** Retryable writes that are running, by session and number: a repetition waits for the first. */
  running: Map<string, Promise<unknown>>
  info: ServerInfo
}

export const ok = { ok: 1 }

/**
 * Runs one statement of a command: in its transaction if it has one, within its `maxTimeMS` if it gave one.
 */
export async function query(
  command: Command,
  engine: Engine,
  text: string,
  parameters: readonly Parameter[],
  pool: 'reads' | 'writes' = 'writes',
): Promise<Row[]> {
  const statement = { text, parameters }
  const limitMs = command.name === 'getMore' ? null : command.view.integer('maxTimeMS')
  const isTimed = limitMs !== null && limitMs > 0n
  const { transaction } = command
  if (transaction !== null) {
    if (!isTimed) return (await engine.transactions.run(transaction, [statement]))[0] ?? []
    // One round trip: the time-out ends before what else the transaction does.
    const results = await engine.transactions.run(transaction, [
      { text: limitText, parameters: [String(limitMs), 'true'] },
      statement,
      { text: limitText, parameters: ['0', 'true'] },
    ])
    return results[1] ?? []
  }
  return engine[pool].use(async (connection) => {
    if (!isTimed) return (await connection.batch([statement]))[0] ?? []
    // Statements of one batch are one transaction, with which the engine ends a cursor: three batches.
    await connection.batch([{ text: limitText, parameters: [String(limitMs), 'false'] }])
    try {
      return (await connection.batch([statement]))[0] ?? []
    } finally {
      if (!connection.isLost) await connection.batch([{ text: limitText, parameters: ['0', 'false'] }])
    }
  })
}

const limitText = "select set_config('statement_timeout', $1, $2::text::boolean)"

/** The first value of the first row, which every engine function gives. */
export function firstValue(rows: readonly Row[]): Buffer {
  const value = rows[0]?.[0]
  if (!value) throw new Error('the engine gave no answer')
  return value
}

/** A boolean column. */
export function isTrue(value: Buffer | null | undefined): boolean {
  return value?.readUInt8(0) === 1
}

/** Fields that drivers add to every command and some engine functions do not accept. */
const commonFields = `lsid $db $clusterTime txnNumber startTransaction autocommit readConcern writeConcern
  $readPreference apiVersion apiStrict apiDeprecationErrors maxTimeMS comment`.split(/\s+/)
const common = new Set(commonFields)

/** The command without the fields that every command may carry. */
export function bare(command: Command, also: readonly string[] = []): Buffer {
  return command.view.without(also.length === 0 ? common : new Set([...commonFields, ...also]))
}

/** Facts that the gateway tells about itself. Counters only grow; times are milliseconds since 1970. */
export type ServerInfo = {
  port: number
  startedAtMs: number
  connectionsCurrent: number
  connectionsCreated: number
  commands: Map<string, { total: number; failed: number }>
  bytesIn: number
  bytesOut: number
}

/** The version whose behaviour drivers may expect. Not 8.0 (25), which would promise `client.bulkWrite`. */
export const serverVersion = '7.0.0'
export const wireVersionMax = 21
export const replicaSetName = 'rs0'
export const connectionsMax = 1_000

/** Frees the results that the engine keeps for abandoned cursors. */
export async function deleteInEngine(engine: Engine, ids: readonly bigint[]): Promise<void> {
  if (ids.length === 0) return
  const text = 'select documentdb_api_internal.delete_cursors($1::text::bigint[])'
  await engine.reads.use((connection) => connection.query(text, [`{${ids.join(',')}}`]))
}

/** The session and number of the transaction that a command is about. @throws MongoError BadValue without */
export function transactionId({ session, txnNumber }: Command): { session: string; number: bigint } {
  if (session === null || txnNumber === null) {
    throw new MongoError(mongoCode.BadValue, 'a transaction needs lsid and txnNumber')
  }
  return { session, number: txnNumber }
}
