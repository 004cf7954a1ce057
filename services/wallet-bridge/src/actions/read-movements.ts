import type { Scope } from '@pitboss/contracts/caller'
import { hasAnswer } from '../rules/movement-outcome.ts'
import type { MovementDocument } from '../storage/movement-document.ts'
import type { MovementStore } from '../storage/movements.ts'

/** Bounds the reply; the contract of the call names this number. */
const roundMovementsMax = 500

export type ReadMovements = {
  /** The movement of that id, and whether its first try has ended; null when there is none. */
  find(
    scope: Scope,
    transactionId: string,
  ): Promise<{ readonly document: MovementDocument; readonly answered: boolean } | null>
  /** The movements of a round, oldest first, at most 500. */
  ofRound(scope: Scope, roundId: string): Promise<MovementDocument[]>
}

/** Reads movements for rounds, which keeps none of them itself. */
export function createReadMovements({ movements }: { movements: MovementStore }): ReadMovements {
  return {
    async find(scope, transactionId) {
      const document = await movements.find(scope, transactionId)
      return document === null ? null : { document, answered: hasAnswer(document) }
    },
    ofRound: (scope, roundId) => movements.ofRound(scope, roundId, roundMovementsMax),
  }
}
