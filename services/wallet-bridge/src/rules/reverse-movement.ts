import {
  applied,
  ignored,
  type MessageOf,
  type MovementState,
  type MovementStep,
  type OwnRollback,
  type Reversal,
} from './movement.ts'

/** The rules of the one reversal that a movement may have. Source: docs/contract.md, sections 5 and 11. */

/** Makes a pending stake owe a rollback of the service's own. Ignored when it has ended or has a reversal. */
export function askVoid(
  state: MovementState,
  { at, rollback, requestHash }: MessageOf<'void-asked'>,
): MovementStep {
  if (state.type !== 'BET' || state.status !== 'PENDING' || state.reversal !== null) return ignored(state)
  return applied(state, at, {
    pendingCode: state.pendingCode ?? 'WALLET_UNAVAILABLE',
    ...owed(rollback, at, requestHash),
  })
}

/** Gives the movement the reversal that a caller asks for, or refuses it. A repeat is ignored. */
export function askReversal(state: MovementState, message: MessageOf<'reversal-asked'>): MovementStep {
  const { at, type, reversal, requestHash, roundClosed } = message
  if (state.reversal?.transactionId === reversal.transactionId) return ignored(state)
  const refusal = reversalRefusal(state, type)
  if (refusal !== null) return { kind: 'refused', state, ...refusal }
  const asked: Reversal = {
    ...reversal,
    type,
    origin: 'caller',
    requestHash,
    roundClosed,
    askedAt: at,
    placed: false,
  }
  return applied(state, at, { reversal: asked, dueAt: at })
}

function reversalRefusal(state: MovementState, type: 'REFUND' | 'ROLLBACK') {
  if (state.type === 'REFUND' || state.type === 'ROLLBACK') {
    return refusal('VALIDATION_ERROR', 'must name a bet or a win, not a refund or a rollback')
  }
  if (type === 'REFUND' && state.type !== 'BET') return refusal('VALIDATION_ERROR', 'must name a bet')
  if (state.status === 'FAILED')
    return refusal('CONFLICT', 'The movement failed; there is nothing to give back.')
  if (state.reversal !== null || state.status === 'REFUNDED' || state.status === 'ROLLED_BACK') {
    return refusal('TRANSACTION_ALREADY_REVERSED', 'The movement has been refunded or rolled back already.')
  }
  if (state.status === 'SUCCESS') return null
  if (type === 'REFUND') return refusal('CONFLICT', 'The bet is pending; roll it back instead.')
  return state.type === 'BET' ? null : refusal('CONFLICT', 'A pending win cannot be rolled back.')
}

/** Marks the reversal as stored in a record of its own, which is due from then on. */
export function markReversalPlaced(
  state: MovementState,
  { at, transactionId }: MessageOf<'reversal-placed'>,
): MovementStep {
  const { reversal } = state
  if (reversal === null || reversal.transactionId !== transactionId || reversal.placed) return ignored(state)
  return applied(state, at, { reversal: { ...reversal, placed: true }, dueAt: state.call?.until ?? null })
}

/** Frees the movement of a reversal whose id was in use; the service's own rollback gets new ids. */
export function dropConflictedReversal(
  state: MovementState,
  { at, transactionId, rollback }: MessageOf<'reversal-conflicted'>,
): MovementStep {
  const { reversal } = state
  if (reversal === null || reversal.transactionId !== transactionId || reversal.placed) return ignored(state)
  if (reversal.origin === 'service') {
    return applied(state, at, { reversal: { ...reversal, ...rollback }, dueAt: at })
  }
  return applied(state, at, { reversal: null, dueAt: state.status === 'PENDING' ? at : null })
}

/** Ends the movement as refunded or rolled back: the wallet acknowledged the reversal. */
export function acknowledgeReversal(
  state: MovementState,
  { at, transactionId }: MessageOf<'reversal-acknowledged'>,
): MovementStep {
  const { reversal, status } = state
  if (reversal === null || reversal.transactionId !== transactionId) return ignored(state)
  if (status !== 'PENDING' && status !== 'SUCCESS') return ignored(state)
  return applied(state, at, {
    status: reversal.type === 'REFUND' ? 'REFUNDED' : 'ROLLED_BACK',
    call: null,
    dueAt: null,
  })
}

/** Ends a taken movement as refunded or rolled back by a reversal that it had lost. */
export function learnReversal(
  state: MovementState,
  { at, reversal }: MessageOf<'reversal-known'>,
): MovementStep {
  if (state.status !== 'SUCCESS' || state.reversal !== null) return ignored(state)
  const status = reversal.type === 'REFUND' ? 'REFUNDED' : 'ROLLED_BACK'
  return applied(state, at, { reversal, status, dueAt: null })
}

/** Frees a taken movement for another reversal and fails a pending one: a person gave up the reversal. */
export function giveUpReversal(
  state: MovementState,
  { at, transactionId }: MessageOf<'reversal-given-up'>,
): MovementStep {
  if (state.reversal?.transactionId !== transactionId) return ignored(state)
  if (state.status === 'SUCCESS') return applied(state, at, { reversal: null, dueAt: null })
  if (state.status !== 'PENDING') return ignored(state)
  const failed = { status: 'FAILED', refusalCode: 'WALLET_REJECTED', call: null, dueAt: null } as const
  return applied(state, at, failed, 'transaction.failed')
}

export function owed(rollback: OwnRollback, at: Date, requestHash = ''): OwedChange {
  return {
    dueAt: at,
    reversal: {
      ...rollback,
      type: 'ROLLBACK',
      origin: 'service',
      requestHash,
      askedAt: at,
      placed: false,
    },
  }
}

/** Makes a refused stake owe a rollback beside its refusal. Source: docs/contract.md, section 6. */
export function owedOfRefused(rollback: OwnRollback, at: Date): OwedChange {
  const { dueAt, reversal } = owed(rollback, at)
  return { dueAt, reversal: { ...reversal, ofRefused: true } }
}

type OwedChange = { readonly dueAt: Date; readonly reversal: Reversal }

function refusal(code: 'CONFLICT' | 'VALIDATION_ERROR' | 'TRANSACTION_ALREADY_REVERSED', message: string) {
  return { code, message } as const
}
