import { setTimeout as delay } from 'node:timers/promises'
import { reasonOf } from '../engine-error.ts'
import type { EngineLogger } from '../engine-logger.ts'
import type { EngineProcess } from './engine-process.ts'

export type Supervised = { pid: () => number; stop: () => Promise<void> }

const retryDelayMsMin = 50
const retryDelayMsMax = 1_000

/**
 * Runs a process and starts it again whenever it ends. The first start must succeed, else its error is
 * thrown; later failures (a full disk, say) are logged when the reason changes and tried again, at most a
 * second apart, until it heals.
 */
export async function supervise(options: {
  name: string
  /** Starts the process and resolves when it is ready to serve; ends what it started when `signal` aborts. */
  start: (signal: AbortSignal) => Promise<EngineProcess>
  logger: EngineLogger
}): Promise<Supervised> {
  const { name, start, logger } = options
  const stopping = new AbortController()
  let current = await start(stopping.signal)

  async function restart(how: string): Promise<void> {
    logger.warn({ engine: name, how }, 'engine.died')
    const diedAt = performance.now()
    let lastReason = ''
    for (
      let waitMs = retryDelayMsMin;
      !stopping.signal.aborted;
      waitMs = Math.min(waitMs * 2, retryDelayMsMax)
    ) {
      try {
        current = await start(stopping.signal)
        logger.info(
          { engine: name, pid: current.pid, down_ms: Math.round(performance.now() - diedAt) },
          'engine.restarted',
        )
        return
      } catch (error) {
        if (stopping.signal.aborted) return
        if (reasonOf(error) !== lastReason)
          logger.error({ engine: name, reason: reasonOf(error) }, 'engine.restart_failed')
        lastReason = reasonOf(error)
      }
      await delay(waitMs, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }

  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      const how = await current.exited
      if (!stopping.signal.aborted) await restart(how)
    }
  }

  const watching = watch()
  return {
    pid: () => current.pid,
    stop: async () => {
      stopping.abort()
      await current.end()
      await watching
      await current.end()
    },
  }
}
