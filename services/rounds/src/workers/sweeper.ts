import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '@pitboss/runtime/clock'
import type { Logger } from 'pino'
import type { RoundsStore } from '../storage/rounds-store.ts'
import type { AttendRound } from '../actions/recover-round.ts'

const sweepEveryMs = 500
const pageSize = 100
const width = 32

type SweepDeps = { rounds: Pick<RoundsStore, 'findDue'>; attend: AttendRound; clock: Clock }

/**
 * Owns every round that is due: what a crash left, what waits for the wallet, what its player has left. Each replica sweeps; a claim decides who
 * works on which round, and needs no broker. Returns the function that stops it.
 */
export function startSweeper({ logger, ...deps }: SweepDeps & { logger: Logger }): () => Promise<void> {
  const stopping = new AbortController()
  const sweep = createSweep(deps)
  const loop = async () => {
    while (!stopping.signal.aborted) {
      try {
        await sweep(stopping.signal)
      } catch (err) {
        logger.error({ err }, 'sweep.failed')
      }
      await delay(sweepEveryMs, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }
  const done = loop()
  return async () => {
    stopping.abort()
    await done
  }
}

/** One look at everything that is due. */
export function createSweep({ rounds, attend, clock }: SweepDeps): (stopping: AbortSignal) => Promise<void> {
  return async function sweep(stopping) {
    const due = await rounds.findDue(clock.now(), pageSize)
    for (let from = 0; from < due.length && !stopping.aborted; from += width) {
      await Promise.all(due.slice(from, from + width).map((stored) => attend(stored)))
    }
  }
}
