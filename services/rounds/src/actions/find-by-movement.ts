import type { Scope } from '@pitboss/contracts/caller'
import { hasMovement } from '../rules/round.ts'
import type { StoredRound } from '../storage/round-document.ts'
import type { RoundsStore } from '../storage/rounds-store.ts'

/** Rounds that have a movement of this id, oldest first; one that was only opened under it is none. */
export async function findByMovement(
  rounds: Pick<RoundsStore, 'listByTransaction'>,
  scope: Scope,
  transactionId: string,
): Promise<StoredRound[]> {
  const found = await rounds.listByTransaction(scope, transactionId)
  return found.filter(({ round }) => hasMovement(round, transactionId))
}
