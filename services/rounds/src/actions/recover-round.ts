import type { Clock } from '@pitboss/runtime/clock'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Logger } from 'pino'
import type { RoundActor } from './round-actor.ts'
import { abandonedAt, dueAt, graceMs } from '../rules/due-at.ts'
import type { StoredRound } from '../storage/round-document.ts'
import type { RoundsStore } from '../storage/rounds-store.ts'

/** A wallet that takes longer is found out about at the next look: it must not hold up the rounds of others. */
const patienceMs = 2000

export type AttendRoundDeps = {
  rounds: Pick<RoundsStore, 'claim'>
  actor: Pick<RoundActor, 'send' | 'settle'>
  clock: Clock
  newId: (prefix: string) => string
  scaleMs: (ms: number) => number
  logger: Logger
}

/**
 * Does what can be done about a round now, unless another worker was first to claim it: false then. Never rejects: the round stays due.
 */
export type AttendRound = (stored: StoredRound) => Promise<boolean>

/**
 * For everybody who works on rounds that nobody waits for. The claim tells whoever still waits for an answer of wallet-bridge that the
 * round's intents are not theirs alone any more (`updateUnclaimed`).
 */
export function createAttendRound({
  rounds,
  actor,
  clock,
  newId,
  scaleMs,
  logger,
}: AttendRoundDeps): AttendRound {
  return async function attendRound(stored) {
    const { round, checks } = stored
    const now = clock.now()
    const later = dueAt(round, { now, checks: checks + 1, scaleMs })
    const until = later !== null && later > now ? later : new Date(now.getTime() + graceMs)
    try {
      const claimed = await rounds.claim(stored, until)
      if (claimed === null) return false
      const left = round.status === 'OPEN' && abandonedAt(round, scaleMs) <= now
      const current = left ? await actor.send(claimed, { type: 'abandon' }) : claimed
      const context = { requestId: newId('req'), deadlineAtMs: clock.now().getTime() + patienceMs }
      await actor.settle(current, { recover: true, context })
    } catch (err) {
      const expected = err instanceof ServiceError && err.code !== 'INTERNAL_ERROR'
      const line = { err, round_id: round.id, checks }
      if (expected) logger.warn(line, 'round.deferred')
      else logger.error(line, 'round.deferred')
    }
    return true
  }
}
