import { orderedBy } from '@pitboss/contracts/audit'
import type { opsHealMovements } from '@pitboss/contracts/calls/wallet-ops'
import { ServiceError } from '@pitboss/errors/service-error'
import type { z } from 'zod'
import type { Settlement } from '../context.ts'
import { documentOf, initialState } from '../records/new-movement.ts'
import type { MovementState } from '../rules/movement.ts'
import type { MovementDocument } from '../storage/movement-document.ts'
import { applyMessage, entriesOf } from './apply-message.ts'
import { isUncalled } from './place-movement.ts'
import { findConfirmed, storeOnce } from './place-reversal.ts'
import { originalOf } from './read-movements.ts'

export type Heal = z.output<typeof opsHealMovements.request>
type Certain = Heal['movements'][number]

/**
 * Writes again, as it had ended, what rounds knows for certain and this database has lost in a restore. Calls
 * no wallet and publishes no event again. Source: docs/runbook.md, "A restored backup".
 * @returns the ids of the movements that were lost. @throws ServiceError WALLET_NOT_CONFIGURED
 */
export async function healMovements(settlement: Settlement, asked: Heal, requestId: string) {
  const { order, scope, movements: certain } = asked
  const { movements, wallets, clock, newId } = settlement
  const wallet = await wallets.find(scope)
  if (wallet === null) throw new ServiceError('WALLET_NOT_CONFIGURED')
  const lost: string[] = []
  for (const one of certain) {
    const { transactionId } = one.spec
    const present = await findConfirmed(movements, scope, transactionId)
    if (present === null) lost.push(transactionId)
    if (order.dryRun) continue
    const document = present ?? (await write(one))
    const original = one.end === 'SUCCESS' ? await endOriginal(document) : null
    for (const healed of original === null ? [document] : [document, original]) await movements.listed(healed)
  }
  return lost

  async function write(one: Certain): Promise<MovementDocument> {
    const { spec, told } = one
    const at = told === null ? clock.now() : new Date(told.at)
    const ended = { ...initialState(spec.type, at), status: one.end, dueAt: null }
    const refusalCode = one.end === 'FAILED' ? (one.code ?? 'WALLET_REJECTED') : null
    // A zero win that the wallet was called for has an event, whatever the wallet's settings are by now.
    const operation = told === null && isUncalled(spec, null) ? null : ended.operation
    const state: MovementState = { ...ended, refusalCode, operation }
    // No event of a win has its brand; the stake of its round has it.
    const [stake] = await movements.ofRound(scope, spec.roundId, 1)
    const known = { ...spec, brandId: spec.brandId ?? stake?.brandId ?? null }
    const document = documentOf({ scope, spec: known, reference: told?.reference ?? newId('txn'), state })
    const by = orderedBy(order, scope.operatorId, requestId)
    const entry = entriesOf(settlement, by, 'movement.heal')(null, document)
    return (await storeOnce(movements, document, { audit: entry })).document
  }

  async function endOriginal(document: MovementDocument): Promise<MovementDocument | null> {
    const { type, transactionId, reference, requestHash, roundClosed, createdAt } = document
    if (type !== 'REFUND' && type !== 'ROLLBACK') return null
    const original = await originalOf(settlement, document)
    if (original === null || document.status !== 'SUCCESS') return null
    const about = { transactionId, reference, type, requestHash, roundClosed, askedAt: createdAt }
    const reversal = { ...about, origin: 'caller', placed: true } as const
    const message = { kind: 'reversal-known', at: clock.now(), reversal } as const
    return (await applyMessage(settlement, original, message)).document
  }
}
