import { orderedBy } from '@pitboss/contracts/audit'
import type { opsHealMovements } from '@pitboss/contracts/calls/wallet-ops'
import { ServiceError } from '@pitboss/errors/service-error'
import type { AuditOutbox } from '@pitboss/storage/audit-outbox'
import { readConfirmed } from '@pitboss/storage/confirm-primary'
import type { z } from 'zod'
import { documentOf, initialState } from '../records/new-movement.ts'
import { toMovementRecord } from '../records/render-movement.ts'
import type { MovementState } from '../rules/movement.ts'
import type { MovementDocument } from '../storage/movement-document.ts'
import type { Wallets } from '../storage/wallet-document.ts'
import type { ApplyDeps, ApplyMessage } from './apply-message.ts'
import { isUncalled } from './place-movement.ts'
import { storeOnce } from './place-reversal.ts'

type Heal = z.output<typeof opsHealMovements.request>
type Certain = Heal['movements'][number]

export type HealMovements = ReturnType<typeof createHealMovements>

/**
 * Creates the work of operations after the database of movements was set back: what rounds knows for certain
 * and this database has lost is written again, as it had ended. No wallet is called, and nothing is told
 * again. Source: docs/runbook.md, "A restored backup".
 */
export function createHealMovements({
  movements,
  wallets,
  apply,
  audit,
  clock,
  newId,
}: Pick<ApplyDeps, 'movements' | 'clock' | 'newId'> & {
  wallets: Pick<Wallets, 'find'>
  apply: ApplyMessage
  audit: Pick<AuditOutbox, 'entry'>
}) {
  /**
   * @returns the ids of the movements that were lost
   * @throws ServiceError WALLET_NOT_CONFIGURED
   */
  return async function healMovements(
    { order, scope, movements: certain }: Heal,
    requestId: string,
  ): Promise<string[]> {
    const wallet = await wallets.find(scope)
    if (wallet === null) throw new ServiceError('WALLET_NOT_CONFIGURED')
    const lost: string[] = []
    for (const one of certain) {
      const { transactionId } = one.spec
      const present = await readConfirmed(() => movements.find(scope, transactionId), {
        confirm: () => movements.confirmPrimary(),
      })
      if (present === null) lost.push(transactionId)
      if (order.dryRun) continue
      const document = present ?? (await write(one))
      const original = one.end === 'SUCCESS' ? await endOriginal(document) : null
      for (const healed of original === null ? [document] : [document, original])
        await movements.listed(healed)
    }
    return lost

    async function write(one: Certain): Promise<MovementDocument> {
      const { spec, told } = one
      const at = told === null ? clock.now() : new Date(told.at)
      const initial = initialState(spec.type, at)
      const state: MovementState = {
        ...initial,
        operation: isUncalled(spec, wallet) ? null : initial.operation,
        status: one.end,
        refusalCode: one.end === 'FAILED' ? (one.code ?? 'WALLET_REJECTED') : null,
        dueAt: null,
      }
      // No event of a win tells its brand; the stake of its round has it.
      const [stake] = await movements.ofRound(scope, spec.roundId, 1)
      const known = { ...spec, brandId: spec.brandId ?? stake?.brandId ?? null }
      const document = documentOf({ scope, spec: known, reference: told?.reference ?? newId('txn'), state })
      const entry = audit.entry(orderedBy(order, scope.operatorId, requestId), {
        act: 'movement.heal',
        object: { type: 'movement', id: document.reference },
        before: null,
        after: toMovementRecord(document),
      })
      return (await storeOnce(movements, document, { audit: entry })).document
    }

    /** Ends the original of a refund or rollback with it. */
    async function endOriginal({
      referenceTransactionId,
      ...own
    }: MovementDocument): Promise<MovementDocument | null> {
      const { type, transactionId, reference, requestHash, roundClosed, createdAt } = own
      if ((type !== 'REFUND' && type !== 'ROLLBACK') || referenceTransactionId === null) return null
      const original = await movements.find(scope, referenceTransactionId)
      if (original === null || own.status !== 'SUCCESS') return null
      const known = { transactionId, reference, type, requestHash, roundClosed, askedAt: createdAt }
      const reversal = { ...known, origin: 'caller', placed: true } as const
      return (await apply(original, { kind: 'reversal-known', at: clock.now(), reversal })).document
    }
  }
}
