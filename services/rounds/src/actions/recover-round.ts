import { ServiceError } from '@pitboss/errors/service-error'
import { mapBounded } from '@pitboss/runtime/map-bounded'
import type { HandledMessage } from '@pitboss/storage/rewind-tally'
import { abandonedAt, dueAt, graceMs } from '../rules/due-at.ts'
import { owesSomething } from '../rules/round.ts'
import type { StoredRound } from '../storage/round-document.ts'
import type { RoundsStore } from '../storage/rounds-store.ts'
import type { Parts } from './parts.ts'
import type { RoundActor } from './round-actor.ts'
import type { SettleRound } from './settle-round.ts'

/** Time for one round: a wallet that takes longer must not hold up the rounds of others. */
const budgetMs = 2000
const sweepMax = 100
const atOnceMax = 32

/**
 * Takes the steps that a round owes now. Answers false when another worker has claimed it first. Never
 * rejects: a round that could not be settled stays due.
 */
export type RecoverRound = (stored: StoredRound) => Promise<boolean>

/**
 * Creates the recovery of rounds that no request waits for, of the sweeper and of late movements. Its claim
 * makes sure that a request which still waits for wallet-bridge does not take back an intent of the round
 * (`updateUnclaimed`).
 */
export function createRecoverRound({
  rounds,
  actor,
  settle,
  clock,
  newId,
  scaleMs,
  logger,
}: {
  rounds: Pick<RoundsStore, 'claim'>
  actor: Pick<RoundActor, 'send'>
  settle: SettleRound
} & Pick<Parts, 'clock' | 'newId' | 'scaleMs' | 'logger'>): RecoverRound {
  return async function recoverRound(stored) {
    const { round, checks } = stored
    const now = clock.now()
    const later = dueAt(round, { now, checks: checks + 1, scaleMs })
    const until = later !== null && later > now ? later : new Date(now.getTime() + graceMs)
    try {
      const claimed = await rounds.claim(stored, until)
      if (claimed === null) return false
      const left = round.status === 'OPEN' && abandonedAt(round, scaleMs) <= now
      const current = left ? await actor.send(claimed, { type: 'abandon' }) : claimed
      const context = { requestId: newId('req'), deadlineAtMs: clock.now().getTime() + budgetMs }
      await settle(current, { recover: true, context })
    } catch (err) {
      const expected = err instanceof ServiceError && err.code !== 'INTERNAL_ERROR'
      const line = { err, round_id: round.id, checks }
      if (expected) logger.warn(line, 'round.deferred')
      else logger.error(line, 'round.deferred')
    }
    return true
  }
}

/** Recovers the rounds that are due now, at most a page of them, and begins no more once it has to stop. */
export type SweepRounds = (stopping: AbortSignal) => Promise<void>

/**
 * Creates the sweep. Rounds are due when a crash left them, when the wallet has not answered and when their
 * player is gone. Every replica sweeps: a claim, which needs no broker, decides who works on which round.
 */
export function createSweepRounds({
  rounds,
  recover,
  clock,
}: {
  rounds: Pick<RoundsStore, 'findDue'>
  recover: RecoverRound
} & Pick<Parts, 'clock'>): SweepRounds {
  return async function sweepRounds(stopping) {
    const due = await rounds.findDue(clock.now(), sweepMax)
    await mapBounded(due, atOnceMax, async (stored) => {
      if (!stopping.aborted) await recover(stored)
    })
  }
}

/**
 * Age up to which a change means that a request still works on the round, or that the sweeper comes to it
 * within seconds. It is less than the second after which wallet-bridge tries a movement again: no request
 * waits for the result of that try.
 */
const freshMs = 800

/** Brings a round up to date after one of its movements has ended; answers whether that changed the round. */
export type HandleLateMovement = (roundId: string) => Promise<HandledMessage['result']>

/** Creates the handler for late movement results. It changes nothing about a round that is right already. */
export function createLateMovementHandler({
  rounds,
  actor,
  recover,
  clock,
}: Pick<Parts, 'rounds' | 'actor' | 'clock'> & { recover: RecoverRound }): HandleLateMovement {
  const isFresh = (at: Date) => clock.now().getTime() - at.getTime() < freshMs
  return async function handleLateMovement(roundId) {
    const before = actor.changedAt(roundId)
    if (before !== null && isFresh(before)) return 'unchanged'
    const stored = await rounds.findAnywhere(roundId)
    if (stored === null || !owesSomething(stored.round) || isFresh(stored.round.updatedAt)) return 'unchanged'
    const claimed = await recover(stored)
    const after = actor.changedAt(roundId)
    return claimed && after?.getTime() !== before?.getTime() ? 'repaired' : 'unchanged'
  }
}
