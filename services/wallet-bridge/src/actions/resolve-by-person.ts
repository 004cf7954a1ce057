import { ServiceError } from '@pitboss/errors/service-error'
import { advanceMovement } from '../rules/advance-movement.ts'
import { scopeOf } from '../rules/movement-keys.ts'
import type { MovementDocument } from '../storage/movement-document.ts'
import type { ApplyDeps, ApplyMessage } from './apply-message.ts'

export type ResolveByPerson = (
  document: MovementDocument,
  as: 'success' | 'failed',
  dryRun: boolean,
) => Promise<MovementDocument>

/**
 * The only way in which a person ends an owed movement. A refund or rollback ends its original with it.
 * `success` gives the original back, before the refund or rollback itself ends, as the wallet's answer would.
 * `failed` frees a taken original for another reversal and fails a pending stake, after the refund or
 * rollback can no longer be sent. Repeating `failed` completes an order that a crash interrupted.
 * @param dryRun checks the order and changes nothing
 * @throws ServiceError CONFLICT when the movement does not wait for the wallet
 */
export function createResolveByPerson({
  apply,
  movements,
  clock,
  scaleMs,
}: ApplyDeps & { apply: ApplyMessage }): ResolveByPerson {
  return async function resolveByPerson(document, as, dryRun) {
    const message = { kind: 'resolved', at: clock.now(), as } as const
    if (as === 'failed' && document.status === 'FAILED' && (await holdsOriginal(document))) {
      if (!dryRun) await endOriginal(document, 'reversal-given-up')
      return document
    }
    const step = advanceMovement(document, message, scaleMs)
    if (step.kind === 'refused') throw new ServiceError('CONFLICT', { message: step.message })
    if (dryRun) return document
    if (as === 'success') await endOriginal(document, 'reversal-acknowledged')
    const resolved = await apply(document, message)
    if (resolved.step.kind === 'refused') {
      throw new ServiceError('CONFLICT', { message: resolved.step.message })
    }
    if (as === 'failed') await endOriginal(document, 'reversal-given-up')
    return resolved.document
  }

  async function originalOf(document: MovementDocument): Promise<MovementDocument | null> {
    const { referenceTransactionId, type } = document
    if (referenceTransactionId === null || (type !== 'REFUND' && type !== 'ROLLBACK')) return null
    return movements.find(scopeOf(document), referenceTransactionId)
  }

  async function holdsOriginal(document: MovementDocument): Promise<boolean> {
    const original = await originalOf(document)
    const isOpen = original?.status === 'SUCCESS' || original?.status === 'PENDING'
    return isOpen && original.reversal?.transactionId === document.transactionId
  }

  async function endOriginal(
    document: MovementDocument,
    kind: 'reversal-acknowledged' | 'reversal-given-up',
  ): Promise<void> {
    const original = await originalOf(document)
    const { transactionId } = document
    if (original !== null) await apply(original, { kind, at: clock.now(), transactionId })
  }
}
