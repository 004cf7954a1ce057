import type { Logger } from 'pino'
import { createSignal } from './signal.ts'

export type Poll = {
  /** Runs the work now, or once more when it is at work. */
  wake(): void
  /** Resolves when the run under way, if any, has ended. */
  stop(): Promise<void>
}

/**
 * Runs `work` at once and then again and again until stopped. A failure is logged as `event`, at `level`, and
 * ends nothing.
 * @param everyMs pause between the end of a run and the next one
 * @param work gets a signal that is aborted when it should come to an end; it may answer in how many
 * milliseconds it wants to run again, instead of `everyMs`
 */
export function startPoll({
  event,
  everyMs,
  work,
  logger,
  level = 'error',
}: {
  event: string
  everyMs: number
  work: (stopping: AbortSignal) => Promise<number | void>
  logger: Pick<Logger, 'error' | 'warn'>
  level?: 'error' | 'warn'
}): Poll {
  const stopping = new AbortController()
  const signal = createSignal()

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      let pauseMs = everyMs
      try {
        pauseMs = (await work(stopping.signal)) ?? everyMs
      } catch (err) {
        logger[level]({ err }, event)
      }
      if (!stopping.signal.aborted) await signal.wait(pauseMs)
    }
  }
  const done = run()

  return {
    wake: signal.ring,
    async stop() {
      stopping.abort()
      signal.ring()
      await done
    },
  }
}
