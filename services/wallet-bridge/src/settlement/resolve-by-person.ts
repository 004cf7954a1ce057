import { ServiceError } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import { advanceMovement } from '../domain/advance-movement.ts'
import { type MovementDocument, scopeOf } from '../storage/movement-document.ts'
import type { ApplyDeps, ApplyMessage } from './apply-message.ts'

export type ResolveByPerson = (
  document: MovementDocument,
  as: 'success' | 'failed',
  dryRun: boolean,
) => Promise<MovementDocument>

/**
 * The only way in which a person ends an owed movement. A refund or rollback ends its original first, as the wallet's answer would: `success`
 * gives it back, `failed` frees a taken original for another reversal and fails a pending stake.
 * @throws ServiceError CONFLICT when the movement is not one that waits for the wallet.
 */
export function createResolveByPerson({
  apply,
  movements,
  clock,
  scaleMs,
}: ApplyDeps & { apply: ApplyMessage }): ResolveByPerson {
  return async function resolveByPerson(document, as, dryRun) {
    const message = { kind: 'resolved', at: clock.now(), as } as const
    const step = advanceMovement(document, message, scaleMs)
    if (step.kind === 'refused') throw new ServiceError('CONFLICT', { message: step.message })
    if (dryRun) return document
    await endOriginal(document, as)
    await failpoint('wallet.original-resolved')
    const resolved = await apply(document, message)
    if (resolved.step.kind === 'refused') {
      throw new ServiceError('CONFLICT', { message: resolved.step.message })
    }
    return resolved.document
  }

  async function endOriginal(document: MovementDocument, as: 'success' | 'failed'): Promise<void> {
    const { referenceTransactionId, transactionId, type } = document
    if (referenceTransactionId === null || (type !== 'REFUND' && type !== 'ROLLBACK')) return
    const original = await movements.find(scopeOf(document), referenceTransactionId)
    if (original === null) return
    const kind = as === 'success' ? 'reversal-acknowledged' : 'reversal-given-up'
    await apply(original, { kind, at: clock.now(), transactionId })
  }
}
