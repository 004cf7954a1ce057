/**
 * Ends the process once everything written to standard output is out: a pipe whose reader is slow loses the
 * rest of it otherwise.
 */
export function exitAfterOutput(code: number): void {
  process.stdout.write('', () => process.exit(code))
}
