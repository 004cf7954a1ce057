import type { Clock } from '@pitboss/runtime/clock'
import { mapBounded } from '@pitboss/runtime/map-bounded'
import type { RoundsStore } from '../storage/rounds-store.ts'
import type { RecoverRound } from './recover-round.ts'

const pageSize = 100
const atOnceMax = 32

/** Recovers the rounds that are due now, at most a page of them, and begins no more once it has to stop. */
export type SweepRounds = (stopping: AbortSignal) => Promise<void>

/**
 * Rounds become due when a crash left them, when the wallet has not answered and when their player is gone.
 * Each replica sweeps: a claim, which needs no broker, decides who works on which round.
 */
export function createSweepRounds({
  rounds,
  recover,
  clock,
}: {
  rounds: Pick<RoundsStore, 'findDue'>
  recover: RecoverRound
  clock: Clock
}): SweepRounds {
  return async function sweepRounds(stopping) {
    const due = await rounds.findDue(clock.now(), pageSize)
    await mapBounded(due, atOnceMax, async (stored) => {
      if (!stopping.aborted) await recover(stored)
    })
  }
}
