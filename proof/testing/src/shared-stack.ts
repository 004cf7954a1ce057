import { endWithRun } from './run-end.ts'
import { type RunningStack, runStack } from './run-stack.ts'

type Suite = { teardown(fn: () => Promise<void>): void }
type SharedStack = Pick<RunningStack, 'dataDir' | 'demo' | 'printed'>

let shared: Promise<RunningStack> | null = null

/**
 * Lends a running `npm start` without flags, which the test files of this process share. A suite on it
 * expects no empty lists, stops nothing, and puts back what it changes.
 */
export function sharedStack(t: Suite): Promise<SharedStack> {
  shared ??= runStack({
    teardown: (end) =>
      endWithRun(t, async () => {
        shared = null
        await end()
      }),
  })
  return shared
}
