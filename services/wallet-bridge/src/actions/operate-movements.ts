import { orderedBy } from '@pitboss/contracts/audit'
import type { RequestOf } from '@pitboss/contracts/call'
import * as calls from '@pitboss/contracts/calls/wallet-ops'
import { conflict, ServiceError } from '@pitboss/errors/service-error'
import { dataPage } from '@pitboss/storage/read-page'
import type { Settlement, WalletContext } from '../context.ts'
import { documentOf, freshRollback, initialState } from '../records/new-movement.ts'
import * as records from '../records/render-movement.ts'
import type { MovementState } from '../rules/movement.ts'
import type { MovementDocument } from '../storage/movement-document.ts'
import { applyMessage, entriesOf, type EntryOf } from './apply-message.ts'
import { isUncalled } from './place-movement.ts'
import { findConfirmed, storeOnce } from './place-reversal.ts'
import { originalOf } from './read-movements.ts'

type ResolveOrder = RequestOf<typeof calls.opsResolveMovement>

const walletPagesMax = 200
const stakesPageMax = 1000
const inDoubtPageMax = 500

/** Finds a movement of any account. Source: docs/contract.md, section 10. @throws TRANSACTION_NOT_FOUND */
export async function findByReference({ wallets, lists, movements }: WalletContext, reference: string) {
  let keys = await wallets.keysAfter('')
  for (let page = 1; page <= walletPagesMax && keys.length > 0; page++) {
    const found = await lists.byReference(reference, keys)
    if (found !== null) return (await movements.findById(found._id)) ?? found
    keys = await wallets.keysAfter(keys.at(-1) ?? '')
  }
  throw new ServiceError('TRANSACTION_NOT_FOUND')
}

/** Movements of every account, oldest first. `olderThanS` is an age in seconds. */
export async function listOverall(context: WalletContext, asked: RequestOf<typeof calls.opsListMovements>) {
  const { status, olderThanS, limit } = asked
  const now = context.clock.now()
  const createdBefore = olderThanS === null ? null : new Date(now.getTime() - olderThanS * 1000)
  const found = await context.lists.overall(status, createdBefore, limit)
  return { data: found.map((document) => records.toOperationsRecord(document, now)) }
}

/** A page of the movements of a player, newest first, and where the next one begins. */
export async function listOfPlayer(
  { lists }: WalletContext,
  asked: RequestOf<typeof calls.opsPlayerMovements>,
) {
  const { scope, playerId, before } = asked
  const present = (document: MovementDocument) => ({
    movement: records.toMovementRecord(document),
    attempts: document.attempts.map(records.toAttemptRecord),
  })
  return dataPage((limit) => lists.newestFirst(scope, { playerId }, { before, limit }), present, {
    positionOf: ({ reference }) => reference,
    // Each wallet call may keep 4 KiB of an answer.
    bytesOf: ({ attempts }) => Buffer.byteLength(JSON.stringify(attempts)),
  })
}

/** The stakes among the next 1000 movements of a window, oldest first, and where the next page begins. */
export async function listStakes({ lists }: WalletContext, asked: RequestOf<typeof calls.opsListStakes>) {
  const { scope, from, to, after } = asked
  const window = { from: new Date(from), to: new Date(to) }
  const found = await lists.oldestFirst(scope, window, { after, limit: stakesPageMax })
  const data = found.flatMap(({ type, transactionId }) => (type === 'BET' ? [transactionId] : []))
  return { data, next: found.length < stakesPageMax ? null : (found.at(-1)?.reference ?? null) }
}

/** A page of the stakes that are in doubt, oldest first. */
export async function listInDoubt({ lists }: WalletContext, asked: RequestOf<typeof calls.opsStakesInDoubt>) {
  const { scope, after } = asked
  const found = await lists.inDoubt(scope, { after, limit: inDoubtPageMax })
  const data = found.map(({ transactionId: transaction_id, reference, roundId: round_id, createdAt }) => {
    return { transaction_id, reference, round_id, asked_at: createdAt.toISOString() }
  })
  return { data, next: found.length < inDoubtPageMax ? null : (found.at(-1)?.reference ?? null) }
}

/** Ends an owed movement by a person's order. @throws ServiceError TRANSACTION_NOT_FOUND, CONFLICT */
export async function resolveMovement(context: WalletContext, asked: ResolveOrder, requestId: string) {
  const { reference, as, order } = asked
  const found = await findByReference(context, reference)
  const resolved = await resolveByPerson(context, found, asked, requestId)
  const { by, reason, dryRun: dry_run } = order
  const about = { reference, as, by, reason, dry_run, status: resolved.status }
  context.logger.warn(about, 'movement.resolved-by-person')
  return resolved
}

type Resolving = Pick<Settlement, 'movements' | 'rules' | 'notify' | 'audit' | 'clock' | 'newId'>

/**
 * The only way in which a person ends an owed movement. `success` gives the original back first, as the
 * wallet's answer would. `failed` then frees a taken original for another reversal, fails a pending stake and
 * rolls back one in doubt; its repeat completes what a crash interrupted. A dry run changes nothing.
 * @throws ServiceError CONFLICT when the movement does not wait for the wallet
 */
export async function resolveByPerson(
  settlement: Resolving,
  document: MovementDocument,
  { as, order }: Pick<ResolveOrder, 'as' | 'order'>,
  requestId: string,
): Promise<MovementDocument> {
  const { movements, rules, clock, newId } = settlement
  const { dryRun } = order
  const by = orderedBy(order, document.operatorId, requestId)
  const entryOf = entriesOf(settlement, by, 'movement.resolve')
  const rollback = freshRollback(document, newId)
  const message = { kind: 'resolved', at: clock.now(), as, rollback } as const
  if (as === 'failed' && document.status === 'FAILED' && (await holdsOriginal(settlement, document))) {
    if (!dryRun) await endOriginal(settlement, document, 'reversal-given-up', entryOf)
    return document
  }
  const step = rules(document, message)
  if (step.kind === 'refused') throw conflict(step.message)
  if (dryRun) return document
  if (as === 'success') await endOriginal(settlement, document, 'reversal-acknowledged', entryOf)
  const resolved = await applyMessage(settlement, document, message, { entryOf })
  if (resolved.step.kind === 'refused') throw conflict(resolved.step.message)
  if (as === 'failed') await endOriginal(settlement, document, 'reversal-given-up', entryOf)
  await movements.listed(resolved.document)
  return resolved.document
}

async function holdsOriginal(settlement: Resolving, document: MovementDocument) {
  const original = await originalOf(settlement, document)
  const isOpen = original?.status === 'SUCCESS' || original?.status === 'PENDING'
  return isOpen && original.reversal?.transactionId === document.transactionId
}

type End = 'reversal-acknowledged' | 'reversal-given-up'

async function endOriginal(settlement: Resolving, reversal: MovementDocument, kind: End, entryOf: EntryOf) {
  const original = await originalOf(settlement, reversal)
  if (original === null) return
  const message = { kind, at: settlement.clock.now(), transactionId: reversal.transactionId } as const
  const ended = await applyMessage(settlement, original, message, { entryOf })
  await settlement.movements.listed(ended.document)
}

/** The movements of a round whose ends have events, oldest first. Source: docs/runbook.md. */
export async function listEnds({ lists }: Pick<WalletContext, 'lists'>, roundId: string) {
  const documents = await lists.ofRound(roundId, calls.roundMovementsMax)
  return documents.flatMap((document) => {
    const end = records.toEndEvent(document)
    return end === null ? [] : [{ document, ...end }]
  })
}

/** Makes and publishes these events of a round again. @returns the ids of those its movements call for */
export async function republishEnds(
  context: WalletContext,
  asked: RequestOf<typeof calls.opsRepublishMovements>,
) {
  const ends = await listEnds(context, asked.roundId)
  const chosen = ends.filter(({ entry }) => asked.eventIds.includes(entry.id))
  if (!asked.order.dryRun)
    for (const { document, entry } of chosen) await context.movements.republish(document, entry)
  return chosen.map(({ entry }) => entry.id)
}

export type Heal = RequestOf<typeof calls.opsHealMovements>
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
