import type { MovementSpec } from '@pitboss/contracts/calls/wallet'
import type { Scope } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import { scopeOf } from '../rules/movement-keys.ts'
import type { MovementDocument } from '../storage/movement-document.ts'
import type { PlaceContext, PlaceDeps } from './place-movement.ts'
import { recordNeverSent } from './store-movement.ts'

type Voided = { readonly stake: MovementDocument; readonly rollback: MovementDocument | null }
export type VoidStake = (
  scope: Scope,
  asked: { stake: MovementSpec; rollbackTransactionId: string },
  context: PlaceContext,
) => Promise<Voided>

/**
 * Gives a stake back, whether or not the wallet has taken it. A stake that was never placed is recorded and
 * never sent: a request for it that is still on its way finds it voided. Waits for the rollback's first try.
 * @throws ServiceError TRANSACTION_CONFLICT when the id belongs to another request; WALLET_NOT_CONFIGURED
 */
export function createVoidStake(deps: PlaceDeps): VoidStake {
  const { movements, apply, advance, awaitFirstTry, clock, newId } = deps

  return async function voidStake(scope, { stake: spec, rollbackTransactionId }, context) {
    const rollback = { transactionId: rollbackTransactionId, reference: newId('txn') }
    const message = {
      kind: 'void-asked',
      at: clock.now(),
      rollback,
      requestHash: `void:${spec.requestHash}`,
    } as const
    const stake = await ownStake()
    if (stake.requestHash !== spec.requestHash || stake.roundId !== spec.roundId) {
      throw new ServiceError('TRANSACTION_CONFLICT')
    }
    const asked = (await apply(stake, message)).document
    await failpoint('wallet.void-asked')
    const placed = await placedRollback(asked)
    const ended = placed === null ? null : await awaitFirstTry(placed, context)
    return { stake: (await movements.findById(asked._id)) ?? asked, rollback: ended }

    async function ownStake(): Promise<MovementDocument> {
      const present = await movements.find(scope, spec.transactionId)
      if (present !== null) return present
      return (await recordNeverSent(deps, { scope, stake: spec, message })).document
    }
  }

  async function placedRollback(stake: MovementDocument): Promise<MovementDocument | null> {
    const { reversal } = stake
    if (reversal === null) return null
    if (!reversal.placed) return advance.placeReversal(stake)
    return movements.find(scopeOf(stake), reversal.transactionId)
  }
}
