import { ServiceError } from '@pitboss/errors/service-error'
import type { RoundsStore } from '../storage/rounds-store.ts'

/**
 * Answers a request once lists show the round that its answer, or its error, names: so any replica that is
 * asked afterwards shows it. Source: docs/contract.md, section 12.
 * @param roundIdOf the round that an answer names
 */
export async function showFirst<Answer>(
  rounds: Pick<RoundsStore, 'show'>,
  roundIdOf: (answer: Answer) => string,
  run: () => Promise<Answer>,
): Promise<Answer> {
  try {
    const answer = await run()
    await rounds.show(roundIdOf(answer))
    return answer
  } catch (error) {
    const roundId = error instanceof ServiceError ? error.resource?.round_id : undefined
    if (roundId !== undefined) await rounds.show(roundId)
    throw error
  }
}
