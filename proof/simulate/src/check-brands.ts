import type { Answers } from '@pitboss/chaos/answers'
import type { RoundState } from '@pitboss/rounds/rules/round'
import type { MovementDocument } from '@pitboss/wallet-bridge/storage/movement-document'
import { BrokenInvariant } from './check-steps.ts'
import type { World } from './world.ts'

const sentBrand = /"brandId":"([^"]*)"/

/**
 * Rounds, movements and what the wallet gets have the brand of their session, and a session that of its
 * request.
 * @throws BrokenInvariant
 */
export function createBrandChecks(world: () => Pick<World, 'sessions'>) {
  /** Undefined for what healing has made without a session. */
  const brandOf = (sessionId: string) => world().sessions.table.get(sessionId)?.brandId
  const holds = (name: string, sessionId: string, brandId: string | null, id: string) => {
    const own = brandOf(sessionId)
    if (own !== undefined && own !== brandId) throw new BrokenInvariant(name, `${id}: ${brandId}, not ${own}`)
  }

  return {
    roundWritten({ id, sessionId, brandId }: RoundState): void {
      holds('a round has the brand of its session', sessionId, brandId, id)
    },

    movementWritten({ transactionId, sessionId, brandId, body }: MovementDocument): void {
      holds('a movement has the brand of its session', sessionId, brandId, transactionId)
      const sent = sentBrand.exec(body)?.[1] ?? null
      holds('the wallet is sent the brand of the session', sessionId, sent, transactionId)
    },

    atEnd(answers: Answers): void {
      for (const { asked, answer } of answers.all()) {
        if (typeof asked.open !== 'string' || answer.status !== 201) continue
        const { session_id: sessionId, brand } = answer.body
        const isAsked = brand === asked.brand && brandOf(String(sessionId)) === asked.brand
        if (!isAsked) throw new BrokenInvariant('a session has the brand of its request', String(sessionId))
      }
    },
  }
}
