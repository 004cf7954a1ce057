import type { Scope } from '@pitboss/contracts/caller'
import type { MovementSpec } from '@pitboss/contracts/calls/wallet'
import { ServiceError } from '@pitboss/errors/service-error'
import { documentOf, initialState } from '../records/new-movement.ts'
import { advanceMovement, type ScaleMs } from '../rules/advance-movement.ts'
import type { MovementMessage } from '../rules/movement.ts'
import type { MovementDocument } from '../storage/movement-document.ts'
import type { MovementStore } from '../storage/movements.ts'
import type { Wallets } from '../storage/wallet-document.ts'

/** A stored movement. `created` is false when the id was stored before. */
export type Stored = { readonly document: MovementDocument; readonly created: boolean }

/** Inserts a movement that has no call in flight, or finds the one that has its id. */
export async function storeOnce(movements: MovementStore, document: MovementDocument): Promise<Stored> {
  if ((await movements.insert(document)) === 'inserted') return { document, created: true }
  return { document: await findStored(movements, document._id), created: false }
}

/** Finds the movement for which an insert was refused. @throws Error when it is not found */
export async function findStored(movements: MovementStore, id: string): Promise<MovementDocument> {
  const present = await movements.findById(id)
  if (present === null) throw new Error(`the movement ${id} was refused as a duplicate and is not found`)
  return present
}

/**
 * Records a stake that was never placed together with its rollback, so that it is never sent: a request for
 * it that is still on its way finds it voided. @throws ServiceError WALLET_NOT_CONFIGURED
 */
export async function recordNeverSent(
  {
    movements,
    wallets,
    scaleMs,
    newId,
  }: { movements: MovementStore; wallets: Wallets; scaleMs: ScaleMs; newId: (prefix: string) => string },
  { scope, stake, message }: { scope: Scope; stake: MovementSpec; message: MovementMessage },
): Promise<Stored> {
  if ((await wallets.find(scope)) === null) throw new ServiceError('WALLET_NOT_CONFIGURED')
  const { state } = advanceMovement(initialState('BET', message.at), message, scaleMs)
  return storeOnce(movements, documentOf({ scope, spec: stake, reference: newId('txn'), state }))
}

/**
 * Refuses a request whose id belongs to another one. The round counts too: two players may choose the same id
 * for the same bet, and one debit must not serve both. @throws ServiceError TRANSACTION_CONFLICT
 */
export function refuseOtherRequest(
  present: MovementDocument,
  { requestHash, type, roundId }: Pick<MovementSpec, 'requestHash' | 'type' | 'roundId'>,
): void {
  if (present.requestHash !== requestHash || present.type !== type || present.roundId !== roundId) {
    throw new ServiceError('TRANSACTION_CONFLICT')
  }
}
