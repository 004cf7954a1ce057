/** Reason why the stack cannot start, in a sentence that says what to do, and its exit code for scripts. */
export class StackError extends Error {
  readonly exitCode: number

  constructor(message: string, { exitCode = 1, ...options }: ErrorOptions & { exitCode?: number } = {}) {
    super(message, options)
    this.name = 'StackError'
    this.exitCode = exitCode
  }
}
