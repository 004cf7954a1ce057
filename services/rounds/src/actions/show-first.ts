import { ServiceError } from '@pitboss/errors/service-error'
import type { RoundsContext } from '../context.ts'

/** Answers once lists show the round of the answer or error. Source: docs/contract.md, section 12. */
export async function showFirst<Answer extends { readonly body: { readonly round_id: string } }>(
  { rounds }: Pick<RoundsContext, 'rounds'>,
  run: () => Promise<Answer>,
): Promise<Answer> {
  try {
    const answer = await run()
    await rounds.show(answer.body.round_id)
    return answer
  } catch (error) {
    const roundId = error instanceof ServiceError ? error.resource?.round_id : undefined
    if (roundId !== undefined) await rounds.show(roundId)
    throw error
  }
}

/** Takes a round's stake or free bet. Lists show a round that is refused here, since its nonce is used. */
export async function showRefused<Taken>(
  { rounds }: Pick<RoundsContext, 'rounds'>,
  roundId: string,
  take: () => Promise<Taken>,
): Promise<Taken> {
  try {
    return await take()
  } catch (error) {
    await rounds.show(roundId)
    throw error
  }
}
