import { ServiceError } from '@pitboss/errors/service-error'
import type { RoundsContext } from '../context.ts'
import { endEvent } from '../records/present-round.ts'

/**
 * Makes the event of a round's end from its record and publishes it once more. Its id follows from the round,
 * so a repeat, or the original that comes late, publishes nothing twice. Source: docs/runbook.md.
 * @returns the id of the event; null for a round that has not ended, or that never started
 * @throws ServiceError ROUND_NOT_FOUND
 */
export async function republishEnd(
  { rounds }: Pick<RoundsContext, 'rounds'>,
  roundId: string,
  dryRun: boolean,
): Promise<string | null> {
  const stored = await rounds.findAnywhere(roundId)
  if (stored === null) throw new ServiceError('ROUND_NOT_FOUND')
  const event = endEvent(stored.round)
  if (event === null) return null
  if (!dryRun) await rounds.publishAgain(stored, event)
  return event.id
}
