import { EngineError } from '@pitboss/engines/engine-error'
import { DemoError } from './demo/answers.ts'

/** Reason why the stack cannot start, in a sentence that says what to do, and its exit code for scripts. */
export class StackError extends Error {
  readonly exitCode: number

  constructor(message: string, { exitCode = 1, ...options }: ErrorOptions & { exitCode?: number } = {}) {
    super(message, options)
    this.name = 'StackError'
    this.exitCode = exitCode
  }
}

/**
 * Text of a failure for a person, and the exit code of the process: an error whose own sentence says the
 * fault and the remedy is shown by that sentence, any other with its stack.
 */
export function explainFailure(error: unknown): { text: string; exitCode: number } {
  if (error instanceof StackError || error instanceof EngineError) {
    return { text: error.message, exitCode: error.exitCode }
  }
  if (error instanceof DemoError) return { text: error.message, exitCode: 1 }
  return { text: error instanceof Error ? (error.stack ?? error.message) : String(error), exitCode: 1 }
}
