import type { Scope } from '@pitboss/contracts/caller'
import type { MovementSpec } from '@pitboss/contracts/calls/wallet'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import { normaliseAmount } from '../records/new-movement.ts'
import type { MovementMessage } from '../rules/movement.ts'
import type { MovementDocument } from '../storage/movement-document.ts'
import type { PlaceContext, PlaceDeps, PlaceOrder } from './place-movement.ts'
import { recordNeverSent, refuseOtherRequest, type Stored } from './store-movement.ts'

type ReversalSpec = MovementSpec & { readonly type: 'REFUND' | 'ROLLBACK' }
type PlaceReversal = (
  scope: Scope,
  order: PlaceOrder & { readonly spec: ReversalSpec },
  context: PlaceContext,
) => Promise<Stored>

/**
 * Gives back the movement that a caller names. The original has one `reversal` field, and the first request
 * to set it wins. @throws ServiceError as `createPlaceMovement` says
 */
export function createPlaceReversal(deps: PlaceDeps): PlaceReversal {
  const { movements, apply, advance, awaitFirstTry, clock, newId } = deps

  return async function placeReversal(scope, { spec, stake }, context) {
    const present = await movements.find(scope, spec.transactionId)
    if (present !== null) {
      refuseOtherRequest(present, spec)
      return { document: await awaitFirstTry(present, context), created: false }
    }
    const message = {
      kind: 'reversal-asked',
      at: clock.now(),
      type: spec.type,
      reversal: { transactionId: spec.transactionId, reference: newId('txn') },
      requestHash: spec.requestHash,
      roundClosed: spec.roundClosed,
    } as const
    const original = await originalOf(scope, spec, stake, message)
    if (stake !== undefined) refuseOtherRequest(original.document, stake)
    refuseOtherAmount(original.document, spec)
    const asked = await apply(original.document, message)
    if (asked.step.kind === 'refused') {
      const { code, message } = asked.step
      throw code === 'VALIDATION_ERROR'
        ? invalidField('reference_transaction_id', message)
        : new ServiceError(code, { message })
    }
    if (asked.document.reversal?.requestHash !== spec.requestHash) {
      throw new ServiceError('TRANSACTION_CONFLICT')
    }
    await failpoint('wallet.reversal-asked')
    const reversal = await advance.placeReversal(asked.document)
    if (reversal === null) throw new ServiceError('TRANSACTION_CONFLICT')
    return {
      document: await awaitFirstTry(reversal, context),
      created: original.created || asked.kind === 'applied',
    }
  }

  /**
   * The movement to give back. A stake that was never placed is recorded with its rollback.
   * @throws ServiceError TRANSACTION_NOT_FOUND, WALLET_NOT_CONFIGURED
   */
  async function originalOf(
    scope: Scope,
    { type, referenceTransactionId }: ReversalSpec,
    stake: MovementSpec | undefined,
    message: MovementMessage,
  ): Promise<Stored> {
    const present =
      referenceTransactionId === null ? null : await movements.find(scope, referenceTransactionId)
    if (present !== null) return { document: present, created: false }
    const isOwn = stake?.transactionId === referenceTransactionId && stake?.type === 'BET'
    if (type !== 'ROLLBACK' || stake === undefined || !isOwn) throw new ServiceError('TRANSACTION_NOT_FOUND')
    return recordNeverSent(deps, { scope, stake, message })
  }
}

function refuseOtherAmount(original: MovementDocument, spec: MovementSpec): void {
  if (spec.currency !== original.currency) {
    throw invalidField('currency', `must be ${original.currency}, as the original's`)
  }
  if (normaliseAmount(spec.amount, spec.currency) !== original.amount) {
    throw invalidField('amount', `must be ${original.amount}: a movement is given back in full`)
  }
}
