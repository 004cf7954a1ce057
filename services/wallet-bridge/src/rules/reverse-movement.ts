import { applied, ignored, type MessageOf } from './movement.ts'
import type { MovementState, MovementStep, OwnRollback, Reversal } from './movement.ts'

/** The rules of the one reversal that a movement may have. Source: docs/contract.md, sections 5 and 11. */

type ConflictMessage = MessageOf<'reversal-conflicted'>
type AcknowledgeMessage = MessageOf<'reversal-acknowledged'>

const endBy = { REFUND: 'REFUNDED', ROLLBACK: 'ROLLED_BACK' } as const

/** Makes a pending stake owe a rollback of the service's own. Ignored when it has ended or has a reversal. */
export function askVoid(state: MovementState, message: MessageOf<'void-asked'>): MovementStep {
  const { at, rollback, requestHash } = message
  if (state.type !== 'BET' || state.status !== 'PENDING' || state.reversal !== null) return ignored(state)
  const pendingCode = state.pendingCode ?? 'WALLET_UNAVAILABLE'
  return applied(state, at, { pendingCode, ...owed(rollback, at, { requestHash }) })
}

/** Gives the movement the reversal that a caller asks for, or refuses it. A repeat is ignored. */
export function askReversal(state: MovementState, message: MessageOf<'reversal-asked'>): MovementStep {
  const { at, type, reversal, requestHash, roundClosed } = message
  if (state.reversal?.transactionId === reversal.transactionId) return ignored(state)
  const refusal = reversalRefusal(state, type)
  if (refusal !== null) return { kind: 'refused', state, ...refusal }
  const asked = { ...reversal, type, requestHash, roundClosed, askedAt: at, placed: false }
  return applied(state, at, { reversal: { ...asked, origin: 'caller' }, dueAt: at })
}

function reversalRefusal(state: MovementState, type: 'REFUND' | 'ROLLBACK') {
  if (state.type === 'REFUND' || state.type === 'ROLLBACK')
    return refusal('VALIDATION_ERROR', 'must name a bet or a win, not a refund or a rollback')
  if (type === 'REFUND' && state.type !== 'BET') return refusal('VALIDATION_ERROR', 'must name a bet')
  if (state.status === 'FAILED')
    return refusal('CONFLICT', 'The movement failed; there is nothing to give back.')
  if (state.reversal !== null || state.status === 'REFUNDED' || state.status === 'ROLLED_BACK')
    return refusal('TRANSACTION_ALREADY_REVERSED', 'The movement has been refunded or rolled back already.')
  if (state.status === 'SUCCESS') return null
  if (type === 'REFUND') return refusal('CONFLICT', 'The bet is pending; roll it back instead.')
  return state.type === 'BET' ? null : refusal('CONFLICT', 'A pending win cannot be rolled back.')
}

/** Marks the reversal as stored in a record of its own, which is due from then on. */
export function markPlaced(state: MovementState, message: MessageOf<'reversal-placed'>): MovementStep {
  const reversal = reversalNamed(state, message)
  if (reversal === null || reversal.placed) return ignored(state)
  const dueAt = state.call?.until ?? null
  return applied(state, message.at, { reversal: { ...reversal, placed: true }, dueAt })
}

/** Frees the movement of a reversal whose id was in use; the service's own rollback gets new ids. */
export function dropConflictedReversal(state: MovementState, message: ConflictMessage): MovementStep {
  const { at, rollback } = message
  const reversal = reversalNamed(state, message)
  if (reversal === null || reversal.placed) return ignored(state)
  if (reversal.origin === 'service')
    return applied(state, at, { reversal: { ...reversal, ...rollback }, dueAt: at })
  return applied(state, at, { reversal: null, dueAt: state.status === 'PENDING' ? at : null })
}

/** Ends the movement as refunded or rolled back: the wallet acknowledged the reversal. */
export function acknowledgeReversal(state: MovementState, message: AcknowledgeMessage): MovementStep {
  const reversal = reversalNamed(state, message)
  const isOpen = state.status === 'PENDING' || state.status === 'SUCCESS'
  if (reversal === null || !isOpen) return ignored(state)
  return applied(state, message.at, { status: endBy[reversal.type], call: null, dueAt: null })
}

/** Ends a taken movement as refunded or rolled back by a reversal that it had lost. */
export function learnReversal(state: MovementState, message: MessageOf<'reversal-known'>): MovementStep {
  const { at, reversal } = message
  if (state.status !== 'SUCCESS' || state.reversal !== null) return ignored(state)
  return applied(state, at, { reversal, status: endBy[reversal.type], dueAt: null })
}

/** Frees a taken movement for another reversal and fails a pending one: a person gave up the reversal. */
export function giveUpReversal(state: MovementState, message: MessageOf<'reversal-given-up'>): MovementStep {
  const { at } = message
  if (reversalNamed(state, message) === null) return ignored(state)
  if (state.status === 'SUCCESS') return applied(state, at, { reversal: null, dueAt: null })
  if (state.status !== 'PENDING') return ignored(state)
  const failed = { status: 'FAILED', refusalCode: 'WALLET_REJECTED', call: null, dueAt: null } as const
  return applied(state, at, failed, 'transaction.failed')
}

type OwedDetails = Partial<Pick<Reversal, 'requestHash' | 'ofRefused'>>

/** Makes a stake owe a rollback of the service's own. Source: docs/contract.md, sections 5 and 6. */
export function owed(rollback: OwnRollback, at: Date, details: OwedDetails = {}): OwedChange {
  const asked = { requestHash: '', ...rollback, ...details, askedAt: at, placed: false }
  return { dueAt: at, reversal: { ...asked, type: 'ROLLBACK', origin: 'service' } }
}

type OwedChange = { readonly dueAt: Date; readonly reversal: Reversal }

/** The reversal of that id; null when the movement has none or another one. */
function reversalNamed({ reversal }: MovementState, { transactionId }: { readonly transactionId: string }) {
  return reversal?.transactionId === transactionId ? reversal : null
}

function refusal(code: 'CONFLICT' | 'VALIDATION_ERROR' | 'TRANSACTION_ALREADY_REVERSED', message: string) {
  return { code, message } as const
}
