import { ServiceError } from '@pitboss/errors/service-error'
import type { RoundsContext } from '../context.ts'
import { endEvent } from '../records/present-round.ts'

/**
 * Publishes the event of a round's end once more; its id follows from the round. Source: docs/runbook.md.
 * @returns its id; null for a round that has not ended or never started. @throws ServiceError ROUND_NOT_FOUND
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
