/** Reads of one table by machines that still ask a database which is no longer the primary. */
export type LaggingReads<Row> = {
  /** From now on the machine reads the table as it is now, for `ms` or until it writes. */
  begin(name: string, ms: number): void
  /** The rows as the machine reads them. */
  rows(name: string): ReadonlyMap<string, Row>
  /** The machine writes: only the primary takes that, and reads follow it. */
  wrote(name: string): void
  clear(): void
}

/** Creates what each machine sees of a table. Rows are replaced, never changed, so a copy of the map does. */
export function createLaggingReads<Row>(
  table: ReadonlyMap<string, Row>,
  nowMs: () => number,
): LaggingReads<Row> {
  const behind = new Map<string, { rows: ReadonlyMap<string, Row>; untilMs: number }>()
  return {
    begin: (name, ms) => void behind.set(name, { rows: new Map(table), untilMs: nowMs() + ms }),
    rows(name) {
      const found = behind.get(name)
      return found === undefined || found.untilMs <= nowMs() ? table : found.rows
    },
    wrote: (name) => void behind.delete(name),
    clear: () => behind.clear(),
  }
}
