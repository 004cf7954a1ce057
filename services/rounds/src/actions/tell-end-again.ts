import { ServiceError } from '@pitboss/errors/service-error'
import { endEvent } from '../records/present-round.ts'
import type { Parts } from './parts.ts'

export type TellEndAgain = ReturnType<typeof createTellEndAgain>

/** Creates the order of operations by which the end of a round is told once more. Source: docs/runbook.md. */
export function createTellEndAgain({ rounds }: Pick<Parts, 'rounds'>) {
  /**
   * Makes the event of the round's end from its record and publishes it. Its id follows from the round, so
   * that repeating this, or the original that comes late, tells nothing twice.
   * @returns the id of the event; null for a round that has not ended, or that never started
   * @throws ServiceError ROUND_NOT_FOUND
   */
  return async function tellEndAgain(roundId: string, dryRun: boolean): Promise<string | null> {
    const stored = await rounds.findAnywhere(roundId)
    if (stored === null) throw new ServiceError('ROUND_NOT_FOUND')
    const event = endEvent(stored.round)
    if (event === null) return null
    if (!dryRun) await rounds.publishAgain(stored, event)
    return event.id
  }
}
