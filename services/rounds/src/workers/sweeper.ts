import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '@pitboss/runtime/clock'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Logger } from 'pino'
import type { RoundActor } from '../actors/round-actor.ts'
import { abandonedAt, dueAt, graceMs } from '../domain/due-at.ts'
import type { StoredRound } from '../storage/round-document.ts'
import type { RoundsStore } from '../storage/rounds-store.ts'

const sweepEveryMs = 500
const pageSize = 100
const width = 16

type SweeperDeps = {
  rounds: RoundsStore
  actor: RoundActor
  clock: Clock
  scaleMs: (ms: number) => number
  logger: Logger
}

/**
 * Owns every round that is due: what a crash left, what waits for the wallet, what its player has left. Each replica sweeps; a claim decides who
 * works on which round, and needs no broker. Returns the function that stops it.
 */
export function startSweeper(deps: SweeperDeps): () => Promise<void> {
  const { logger } = deps
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
export function createSweep({
  rounds,
  actor,
  clock,
  scaleMs,
  logger,
}: SweeperDeps): (stopping: AbortSignal) => Promise<void> {
  async function attend(stored: StoredRound): Promise<void> {
    const { round, checks } = stored
    const now = clock.now()
    const later = dueAt(round, { now, checks: checks + 1, scaleMs })
    const until = later !== null && later > now ? later : new Date(now.getTime() + graceMs)
    try {
      const claimed = await rounds.claim(stored, until)
      if (claimed === null) return
      const left = round.status === 'OPEN' && abandonedAt(round, scaleMs) <= now
      const current = left ? await actor.send(claimed, { type: 'abandon' }) : claimed
      await actor.settle(current, { recover: true })
    } catch (err) {
      const expected = err instanceof ServiceError && err.code !== 'INTERNAL_ERROR'
      const line = { err, round_id: round.id, checks }
      if (expected) logger.warn(line, 'round.deferred')
      else logger.error(line, 'round.deferred')
    }
  }

  return async function sweep(stopping) {
    const due = await rounds.findDue(clock.now(), pageSize)
    for (let from = 0; from < due.length && !stopping.aborted; from += width) {
      await Promise.all(due.slice(from, from + width).map((stored) => attend(stored)))
    }
  }
}
