/**
 * Why the stack cannot start, in a sentence that says what to do, and the exit code that says so to a script.
 */
export class StackError extends Error {
  readonly exitCode: number

  constructor(message: string, { exitCode = 1, ...options }: ErrorOptions & { exitCode?: number } = {}) {
    super(message, options)
    this.name = 'StackError'
    this.exitCode = exitCode
  }
}
