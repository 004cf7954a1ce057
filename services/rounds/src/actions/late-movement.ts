import type { Clock } from '@pitboss/runtime/clock'
import type { HandledMessage } from '@pitboss/storage/rewind-tally'
import { owesSomething } from '../rules/round.ts'
import type { RoundsStore } from '../storage/rounds-store.ts'
import type { RecoverRound } from './recover-round.ts'
import type { RoundActor } from './round-actor.ts'

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
}: {
  rounds: Pick<RoundsStore, 'findAnywhere'>
  actor: Pick<RoundActor, 'changedAt'>
  recover: RecoverRound
  clock: Clock
}): HandleLateMovement {
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
