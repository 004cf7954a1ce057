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
