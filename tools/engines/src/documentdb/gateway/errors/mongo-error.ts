import { codeName, codeOfSqlState, mongoCode, unpackSqlState } from './error-codes.ts'

type MongoErrorDetails = {
  /** Driver's labels: `TransientTransactionError`, `UnknownTransactionCommitResult`. */
  labels?: string[]
  /** Further top-level fields of the answer, such as `keyPattern`. */
  fields?: Record<string, unknown>
  /** PostgreSQL's own name of the error, for the log. */
  sqlState?: string
  cause?: unknown
}

/** An error as MongoDB would answer it. */
export class MongoError extends Error {
  readonly code: number
  readonly labels: string[]
  readonly fields: Record<string, unknown>
  readonly sqlState: string | null

  constructor(
    code: number,
    message: string,
    { labels = [], fields = {}, sqlState, cause }: MongoErrorDetails = {},
  ) {
    super(message, { cause })
    this.code = code
    this.labels = labels
    this.fields = fields
    this.sqlState = sqlState ?? null
  }
}

/**
 * PostgreSQL is not there: the outcome is unknown, so the client's connection is dropped instead of answered.
 */
export class ConnectionLost extends Error {}

/** An error that PostgreSQL reported. */
export class PostgresError extends Error {
  readonly sqlState: string
  readonly detail: string | null

  constructor(fields: ReadonlyMap<string, string>) {
    super(fields.get('M') ?? 'unknown error')
    this.sqlState = fields.get('C') ?? 'XX000'
    this.detail = fields.get('D') ?? null
  }

  /** Shutdown, crash of a neighbour, or not up yet: classes 08 and 57P. */
  get connectionIsGone(): boolean {
    return this.sqlState.startsWith('57P') || this.sqlState.startsWith('08')
  }
}

/**
 * Two connections that create one collection or database at the same time: the engine gives this no code of
 * its own.
 */
const creationRace = /^Unable to create (the specified collection|metadata database sentinel collection)/

/**
 * Deadlock victim, serialisation loser, second to create: nothing was written, the same statement may be
 * tried again.
 */
export function lostRace(error: unknown): boolean {
  if (!(error instanceof PostgresError)) return false
  return ['40P01', '40001', 'PB001'].includes(error.sqlState) || creationRace.test(error.message)
}

/** A row lock that a transaction did not get in time is a write conflict there, a time-out elsewhere. */
const lockNotAvailable = '55P03'

/**
 * Any failure of a command as MongoDB would report it.
 * @throws ConnectionLost when PostgreSQL went away: such a command must not be answered at all.
 */
export function translateError(error: unknown, inTransaction: boolean): MongoError {
  if (error instanceof ConnectionLost) throw error
  if (error instanceof MongoError) return error
  if (error instanceof PostgresError) {
    if (error.connectionIsGone) throw new ConnectionLost(error.message, { cause: error })
    const code = lostRace(error) ? mongoCode.WriteConflict : codeOf(error.sqlState, inTransaction)
    return new MongoError(code, error.message, { sqlState: error.sqlState, cause: error })
  }
  const message = error instanceof Error ? error.message : String(error)
  return new MongoError(mongoCode.InternalError, message, { cause: error })
}

/** The code of a failure listed inside an answer of the engine. */
export function codeOfPacked(packed: number, inTransaction: boolean): number {
  return codeOf(unpackSqlState(packed), inTransaction)
}

function codeOf(sqlState: string, inTransaction: boolean): number {
  return inTransaction && sqlState === lockNotAvailable ? mongoCode.WriteConflict : codeOfSqlState(sqlState)
}

/** The answer of a failed command. */
export function errorReply(error: MongoError): Record<string, unknown> {
  return {
    ok: 0,
    errmsg: error.message,
    code: error.code,
    codeName: codeName(error.code),
    ...error.fields,
    ...(error.labels.length > 0 ? { errorLabels: error.labels } : {}),
  }
}
