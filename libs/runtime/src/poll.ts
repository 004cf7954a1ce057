import type { Logger } from 'pino'

export type Poll = {
  /** Runs the work now, or once more when it is at work. */
  wake(): void
  /** Resolves when the run under way, if any, has ended. */
  stop(): Promise<void>
}

/**
 * Runs `work` at once and then again and again until stopped. A failure is logged as `event`, at `level`, and
 * ends nothing.
 * @param everyMs pause between the end of a run and the next one; from 500 ms on it ends at a multiple of
 * itself on the process's clock, so that polls of a process wake it together
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
      let pauseMs: number | undefined
      try {
        pauseMs = (await work(stopping.signal)) ?? undefined
      } catch (err) {
        logger[level]({ err }, event)
      }
      if (!stopping.signal.aborted) await signal.wait(pauseMs ?? commonPauseMs(everyMs))
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

const commonFromMs = 500

/** The pause from now to a multiple of `everyMs`, between half of it and half as long again. */
export function commonPauseMs(everyMs: number, nowMs = performance.now()): number {
  if (everyMs < commonFromMs) return everyMs
  return Math.round(nowMs / everyMs + 1) * everyMs - nowMs
}

/** Looks again after so long even if nobody has said that there is something to do. */
const restMaxMs = 60_000

/**
 * As `startPoll`, for work that there is at times alone: it rests while `hasWork` is false. `wake` ends a
 * rest, and the next run comes `everyMs` after it; while it does not rest `wake` changes nothing.
 * @param restMs how long it rests without a wake
 */
export function startRestingPoll({
  hasWork,
  restMs = restMaxMs,
  work,
  ...poll
}: Omit<Parameters<typeof startPoll>[0], 'work'> & {
  hasWork: () => boolean
  restMs?: number
  work: () => Promise<void>
}): Poll {
  let isResting = false
  const { wake, stop } = startPoll({
    ...poll,
    async work() {
      const wasResting = isResting
      isResting = false
      if (!wasResting) await work()
      isResting = !hasWork()
      return isResting ? restMs : undefined
    },
  })
  return { wake: () => isResting && wake(), stop }
}

/** Wakes one waiting loop. A ring without a waiting loop is kept for the next wait. */
type Signal = {
  ring: () => void
  /** Resolves at a ring or after `timeoutMs`. True for a ring. */
  wait(timeoutMs: number): Promise<boolean>
}

export function createSignal(): Signal {
  let rung = false
  let wake: (() => void) | null = null

  return {
    ring() {
      rung = true
      wake?.()
    },
    async wait(timeoutMs) {
      if (!rung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, Math.max(0, timeoutMs))
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
        wake = null
      }
      const wasRung = rung
      rung = false
      return wasRung
    },
  }
}
