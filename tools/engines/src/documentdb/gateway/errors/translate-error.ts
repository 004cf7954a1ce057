import { lostRace, PostgresError } from '../postgres/postgres-error.ts'
import { codeName, codeOfSqlState, mongoCode, unpackSqlState } from './error-codes.ts'
import { ConnectionLost, MongoError } from './mongo-error.ts'

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
    const code = lostRace(error) ? mongoCode.writeConflict : codeOf(error.sqlState, inTransaction)
    return new MongoError(code, error.message, { sqlState: error.sqlState, cause: error })
  }
  const message = error instanceof Error ? error.message : String(error)
  return new MongoError(mongoCode.internalError, message, { cause: error })
}

/** The code of a failure listed inside an answer of the engine. */
export function codeOfPacked(packed: number, inTransaction: boolean): number {
  return codeOf(unpackSqlState(packed), inTransaction)
}

function codeOf(sqlState: string, inTransaction: boolean): number {
  return inTransaction && sqlState === lockNotAvailable ? mongoCode.writeConflict : codeOfSqlState(sqlState)
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
