/** Why the stack cannot start, in a sentence that says what to do. */
export class StackError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StackError'
  }
}
