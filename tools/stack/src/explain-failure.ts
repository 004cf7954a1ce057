import { EngineError } from '@pitboss/engines/engine-error'
import { DemoError } from './demo/demo-http.ts'
import { StackError } from './stack-error.ts'

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
