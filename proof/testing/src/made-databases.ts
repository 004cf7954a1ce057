let made = 0

/** Counts a database that this process had to make, for the figures of the test runner. */
export function countMadeDatabase(): void {
  made += 1
}

export function madeDatabases(): number {
  return made
}
