import type { Scope } from '@pitboss/contracts/caller'
import { type MovementSpec, stakeLifeMs } from '@pitboss/contracts/calls/wallet'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import { readConfirmed } from '@pitboss/storage/confirm-primary'
import type { Settlement } from '../context.ts'
import { documentOf, freshRollback, initialState, normaliseAmount } from '../records/new-movement.ts'
import type { MovementMessage, MovementState } from '../rules/movement.ts'
import type { MovementDocument } from '../storage/movement-document.ts'
import type { InsertOptions, MovementStore } from '../storage/movement-store.ts'
import { awaitFirstTry, type PlaceContext } from './advance-due.ts'
import { beginReversal } from './begin-reversal.ts'
import { runCall } from './run-call.ts'

export type Placement = PlaceContext & { readonly scope: Scope; readonly spec: MovementSpec }
type ReversalPlacement = Placement & {
  readonly spec: { readonly type: 'REFUND' | 'ROLLBACK' }
  readonly stake: MovementSpec | undefined
}

/** Gives back a movement; its one `reversal` is the first to be set. @throws as `placeMovement` does */
export async function placeReversal(settlement: Settlement, placement: ReversalPlacement): Promise<Stored> {
  const { inTurn, wallets, clock, newId } = settlement
  const { scope, spec, stake } = placement
  const joined = await joinPresent(settlement, placement)
  if (joined !== null) return joined
  const { type, transactionId, requestHash, roundClosed } = spec
  const reversal = { transactionId, reference: newId('txn') }
  const asked = { type, reversal, requestHash, roundClosed }
  const message = { kind: 'reversal-asked', at: clock.now(), ...asked } as const
  const original = await originalOf(settlement, placement, message)
  if (stake !== undefined) refuseOtherRequest(original.document, stake)
  refuseOtherAmount(original.document, spec)
  const wallet = await wallets.open(scope)
  if (wallet === null) throw new ServiceError('WALLET_NOT_CONFIGURED')
  const begun = await beginReversal(settlement, original.document, message, wallet)
  if (begun.kind === 'refused') {
    const { code, message } = begun
    if (code === 'VALIDATION_ERROR') throw invalidField('reference_transaction_id', message)
    throw new ServiceError(code, { message })
  }
  const isOwn = begun.original.reversal?.requestHash === spec.requestHash
  if (!('reversal' in begun) || !isOwn) throw new ServiceError('TRANSACTION_CONFLICT')
  await failpoint('wallet.reversal-begun')
  const isNew = begun.kind === 'begun'
  const call = () => runCall(settlement, begun.reversal, wallet, placement.requestId)
  const document =
    isNew && begun.reversal.call !== null
      ? await inTurn(begun.reversal._id, call)
      : await awaitFirstTry(settlement, begun.reversal, placement)
  return { document, created: original.created || isNew }
}

/** A stake never placed is recorded with its rollback; one taken and lost, with its refund. */
async function originalOf(settlement: Settlement, placement: ReversalPlacement, message: MovementMessage) {
  const { movements, rules } = settlement
  const { scope, spec, stake } = placement
  const { type, referenceTransactionId: id } = spec
  const present = id === null ? null : await findConfirmed(movements, scope, id)
  if (present !== null) return { document: present, created: false }
  if (stake === undefined || stake.transactionId !== id || stake.type !== 'BET')
    throw new ServiceError('TRANSACTION_NOT_FOUND')
  const initial = initialState('BET', message.at)
  const taken: MovementState = { ...initial, status: 'SUCCESS', dueAt: null }
  return recordStake(settlement, scope, stake, rules(type === 'REFUND' ? taken : initial, message).state)
}

/** Finds a movement; that it is missing counts once the primary is confirmed. */
export function findConfirmed(movements: MovementStore, scope: Scope, transactionId: string) {
  const confirm = () => movements.confirmPrimary()
  return readConfirmed(() => movements.find(scope, transactionId), { confirm })
}

type VoidOrder = {
  readonly stake: MovementSpec
  readonly rollbackTransactionId: string
  readonly askedAt?: Date | undefined
}

/**
 * Gives a stake back, whether or not the wallet has taken it. A stake that was never placed is recorded and
 * never sent: a request for it that is still on its way finds it voided. Waits for the rollback's first try.
 * A stake that may come from a backup stays pending: the resolver asks about it first (advance-due.ts).
 * @throws ServiceError TRANSACTION_CONFLICT when the id belongs to another request; WALLET_NOT_CONFIGURED
 */
export async function voidStake(settlement: Settlement, scope: Scope, order: VoidOrder, call: PlaceContext) {
  const { movements, clock, newId } = settlement
  const { stake: spec } = order
  const rollback = { ...freshRollback(spec, newId), transactionId: order.rollbackTransactionId }
  const requestHash = `void:${spec.requestHash}`
  const message = { kind: 'void-asked', at: clock.now(), rollback, requestHash } as const
  const stake = await stakeToVoid(settlement, scope, order, message)
  if (stake.requestHash !== spec.requestHash || stake.roundId !== spec.roundId)
    throw new ServiceError('TRANSACTION_CONFLICT')
  if (stake.status === 'PENDING' && stake.reversal === null && isOld(stake.createdAt, message.at)) {
    await movements.listed(stake)
    return { stake, rollback: null }
  }
  const isRefused = stake.reversal?.ofRefused === true
  const begun = isRefused ? null : await beginReversal(settlement, stake, message)
  await failpoint('wallet.void-asked')
  const placed = begun !== null && 'reversal' in begun ? begun.reversal : null
  const ended = placed === null ? null : await awaitFirstTry(settlement, placed, call)
  const after = (await movements.findById(stake._id)) ?? stake
  await Promise.all([after, ...(ended === null ? [] : [ended])].map(movements.listed))
  return { stake: after, rollback: ended }
}

async function stakeToVoid(settlement: Settlement, scope: Scope, order: VoidOrder, message: MovementMessage) {
  const { stake, askedAt } = order
  const present = await settlement.movements.find(scope, stake.transactionId)
  if (present !== null) return present
  // One asked for long ago needs no reversal.
  const state =
    askedAt !== undefined && isOld(askedAt, message.at)
      ? initialState('BET', askedAt)
      : settlement.rules(initialState('BET', message.at), message).state
  return (await recordStake(settlement, scope, stake, state)).document
}

/** Whether it may come from a backup. */
const isOld = (at: Date, now: Date): boolean => now.getTime() - at.getTime() > stakeLifeMs

function refuseOtherAmount(original: MovementDocument, spec: MovementSpec): void {
  if (spec.currency !== original.currency)
    throw invalidField('currency', `must be ${original.currency}, as the original's`)
  if (normaliseAmount(spec.amount, spec.currency) !== original.amount)
    throw invalidField('amount', `must be ${original.amount}: a movement is given back in full`)
}

/** A stored movement. `created` is false when the id was stored before. */
export type Stored = { readonly document: MovementDocument; readonly created: boolean }

/** Inserts a movement without a call in flight, or finds the one of its id. @throws what `check` throws */
export async function storeOnce(
  movements: MovementStore,
  document: MovementDocument,
  options?: InsertOptions,
) {
  const inserted = await movements.insert(document, options)
  if (typeof inserted === 'string') return findStored(movements, document._id)
  if ('refused' in inserted) throw inserted.refused
  return { document: inserted, created: true }
}

/** Finds the movement for which an insert was refused. @throws Error when it is not found */
export async function findStored(movements: MovementStore, id: string): Promise<Stored> {
  const present = await movements.findById(id)
  if (present === null) throw new Error(`the movement ${id} was refused as a duplicate and is not found`)
  return { document: present, created: false }
}

/** Joins the movement of the placement's id; null when there is none. */
export async function joinPresent(settlement: Settlement, placement: Placement): Promise<Stored | null> {
  const document = await settlement.movements.find(placement.scope, placement.spec.transactionId)
  return document === null ? null : join(settlement, { document, created: false }, placement)
}

/** Waits for the first try of a stored movement; one that another request has stored is refused. */
export async function join(settlement: Settlement, { document, created }: Stored, placement: Placement) {
  if (!created) refuseOtherRequest(document, placement.spec)
  return { document: await awaitFirstTry(settlement, document, placement), created }
}

/** Records a stake that is never sent. @throws ServiceError WALLET_NOT_CONFIGURED */
async function recordStake(settlement: Settlement, scope: Scope, spec: MovementSpec, state: MovementState) {
  const { movements, wallets, newId } = settlement
  if ((await wallets.copy(scope)) === null) throw new ServiceError('WALLET_NOT_CONFIGURED')
  return storeOnce(movements, documentOf({ scope, spec, reference: newId('txn'), state }))
}

/** The round counts: two players may choose one id for a bet. @throws ServiceError TRANSACTION_CONFLICT */
function refuseOtherRequest(present: MovementDocument, spec: MovementSpec): void {
  const same = ['requestHash', 'type', 'roundId', 'referenceTransactionId'] as const
  if (same.some((field) => present[field] !== spec[field])) throw new ServiceError('TRANSACTION_CONFLICT')
}
