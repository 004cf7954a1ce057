export type MongoErrorDetails = {
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
