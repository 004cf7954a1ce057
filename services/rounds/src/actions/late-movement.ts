import type { Clock } from '@pitboss/runtime/clock'
import type { HandledMessage } from '@pitboss/storage/rewind-tally'
import type { RoundActor } from './round-actor.ts'
import { owesSomething } from '../rules/round.ts'
import type { RoundsStore } from '../storage/rounds-store.ts'
import type { AttendRound } from './recover-round.ts'

/**
 * A round changed within this time has somebody at work on it, or is the sweeper's within seconds. Less than the second after which a
 * movement is tried again: nobody waits for what ends then.
 */
const freshMs = 800

/** What hearing that a movement of a round has ended does about that round. */
export type HearMovement = (roundId: string) => Promise<HandledMessage['result']>

/** Makes what everybody does who hears of a movement's end. Changes nothing about a round that is right already. */
export function createHearMovement({
  rounds,
  actor,
  attend,
  clock,
}: {
  rounds: Pick<RoundsStore, 'findAnywhere'>
  actor: Pick<RoundActor, 'changedAt'>
  attend: AttendRound
  clock: Clock
}): HearMovement {
  const isFresh = (at: Date) => clock.now().getTime() - at.getTime() < freshMs
  return async function hearMovement(roundId) {
    const before = actor.changedAt(roundId)
    if (before !== null && isFresh(before)) return 'unchanged'
    const stored = await rounds.findAnywhere(roundId)
    if (stored === null || !owesSomething(stored.round) || isFresh(stored.round.updatedAt)) return 'unchanged'
    const claimed = await attend(stored)
    const after = actor.changedAt(roundId)
    return claimed && after?.getTime() !== before?.getTime() ? 'repaired' : 'unchanged'
  }
}
