import { endWithRun } from './run-end.ts'
import { type RunningStack, runStack } from './run-stack.ts'

type Suite = { teardown(fn: () => Promise<void>): void }
type SharedStack = Pick<RunningStack, 'dataDir' | 'demo' | 'printed'>

let shared: Promise<RunningStack> | null = null

/**
 * A running `npm start` without flags that the test files of this process share: a suite on it expects no
 * empty lists, and ends and changes nothing of which another could learn.
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
