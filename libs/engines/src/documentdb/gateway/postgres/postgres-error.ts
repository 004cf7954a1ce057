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

/** Deadlock victim or serialisation loser: nothing was written, the same statement may be tried again. */
export function lostRace(error: unknown): boolean {
  return error instanceof PostgresError && (error.sqlState === '40P01' || error.sqlState === '40001')
}
