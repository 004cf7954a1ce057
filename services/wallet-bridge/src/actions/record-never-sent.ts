import type { MovementSpec } from '@pitboss/contracts/calls/wallet'
import type { Scope } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import { advanceMovement } from '../rules/advance-movement.ts'
import type { MovementMessage } from '../rules/movement.ts'
import type { MovementDocument } from '../storage/movement-document.ts'
import { documentOf, initialState } from '../records/new-movement.ts'
import type { PlaceDeps } from './place-movement.ts'

/**
 * Records a stake that was never placed together with what gives it back, never to be sent: one that is still
 * on its way here finds it voided. Whoever was first with the id is returned with `isNew` false.
 * @throws ServiceError WALLET_NOT_CONFIGURED
 */
export async function recordNeverSent(
  { movements, wallets, scaleMs, newId }: Pick<PlaceDeps, 'movements' | 'wallets' | 'scaleMs' | 'newId'>,
  { scope, stake, message }: { scope: Scope; stake: MovementSpec; message: MovementMessage },
): Promise<{ document: MovementDocument; isNew: boolean }> {
  if ((await wallets.find(scope)) === null) throw new ServiceError('WALLET_NOT_CONFIGURED')
  const { state } = advanceMovement(initialState('BET', message.at), message, scaleMs)
  const neverSent = documentOf({ scope, spec: stake, reference: newId('txn'), state })
  if ((await movements.insert(neverSent)) === 'inserted') return { document: neverSent, isNew: true }
  const winner = await movements.findById(neverSent._id)
  if (winner === null) throw new Error(`the movement ${neverSent._id} is there and is not`)
  return { document: winner, isNew: false }
}
