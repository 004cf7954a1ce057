import type {
  FreshMovement,
  Judgement,
  MovementEventType,
  MovementMessage,
  MovementState,
  MovementStep,
  Reversal,
} from './movement.ts'
import { nextOwedTryAt, nextStakeTryAt } from './retry-ladder.ts'

/** Divides the delays of the ladder; see contract section 9. */
export type ScaleMs = (ms: number) => number

/**
 * The rules of a movement: closed over all messages, so that a message that does not fit the state changes nothing.
 * Source: contract sections 5 and 11 ("Movements and wallets"). Never throws.
 */
export function advanceMovement(
  state: MovementState,
  message: MovementMessage,
  scaleMs: ScaleMs,
): MovementStep {
  switch (message.kind) {
    case 'call-begun':
      return beginCall(state, message)
    case 'answered':
      if (state.call === null || state.call.token !== message.token) return ignored(state)
      return takeAnswer(state, message.judgement, message.at, message.rollback, scaleMs)
    case 'call-lost':
      if (state.call === null || message.at < state.call.until) return ignored(state)
      return takeAnswer(state, lostCall, message.at, message.rollback, scaleMs)
    case 'budget-spent':
      return spendBudget(state, message.at, message.rollback)
    case 'void-asked':
      return askVoid(state, message)
    case 'reversal-asked':
      return askReversal(state, message)
    case 'reversal-placed':
      if (state.reversal?.transactionId !== message.transactionId || state.reversal.placed) {
        return ignored(state)
      }
      return applied(state, message.at, {
        reversal: { ...state.reversal, placed: true },
        dueAt: state.call?.until ?? null,
      })
    case 'reversal-conflicted':
      return dropConflictedReversal(state, message)
    case 'reversal-acknowledged':
      return acknowledgeReversal(state, message)
    case 'reversal-given-up':
      return giveUpReversal(state, message)
    case 'hinted':
      if (state.status !== 'PENDING' || state.call !== null) return ignored(state)
      if (state.dueAt === null || state.dueAt <= message.at) return ignored(state)
      return applied(state, message.at, { dueAt: message.at })
    case 'resolved':
      return resolveByPerson(state, message)
  }
}

/** What is to be done next about a movement that is due. */
export type NextAction = 'call' | 'call-lost' | 'budget-spent' | 'place-reversal' | 'wait'

/** Decides for whoever finds a movement due at `now`. */
export function nextAction(state: MovementState, now: Date): NextAction {
  if (state.reversal !== null && !state.reversal.placed) return 'place-reversal'
  if (state.call !== null) return now < state.call.until ? 'wait' : 'call-lost'
  if (state.status !== 'PENDING' || state.operation === null || state.reversal !== null) return 'wait'
  if (state.dueAt === null || now < state.dueAt) return 'wait'
  if (state.type !== 'BET') return 'call'
  return nextStakeTryAt(state.createdAt, state.tries, now) === null ? 'budget-spent' : 'call'
}

const lostCall: Judgement = {
  kind: 'unknown',
  code: 'WALLET_TIMEOUT',
  walletCode: null,
  reason: 'the process that made the call did not record an answer',
}

function beginCall(
  state: MovementState,
  message: Extract<MovementMessage, { kind: 'call-begun' }>,
): MovementStep {
  const { at, token, leaseMs } = message
  if (nextAction(state, at) !== 'call') return ignored(state)
  const until = new Date(at.getTime() + leaseMs)
  return applied(state, at, {
    tries: state.tries + 1,
    call: { token, attempt: state.tries + 1, startedAt: at, until },
    dueAt: until,
  })
}

function takeAnswer(
  state: MovementState,
  judgement: Judgement,
  at: Date,
  rollback: FreshMovement,
  scaleMs: ScaleMs,
): MovementStep {
  const unknown = judgement.kind === 'unknown'
  const ended: Change = {
    call: null,
    unknownTries: state.unknownTries + (unknown ? 1 : 0),
    pendingCode: state.pendingCode ?? (unknown ? judgement.code : null),
    ...(judgement.kind === 'success' || judgement.walletCode === null
      ? {}
      : { walletCode: judgement.walletCode }),
  }
  if (state.status !== 'PENDING' || state.reversal !== null) {
    const dueAt = state.reversal !== null && !state.reversal.placed ? at : null
    return applied(state, at, { ...ended, dueAt })
  }
  if (judgement.kind === 'success') return succeed(state, at, { ...ended, ...taken(judgement) })
  if (state.type === 'BET') return takeStakeRefusal(state, judgement, at, rollback, ended)
  return applied(state, at, {
    ...ended,
    pendingCode: ended.pendingCode ?? 'WALLET_UNAVAILABLE',
    dueAt: nextOwedTryAt(state, at, scaleMs),
  })
}

/** A refusal is final only if no earlier try can still land; a tombstone always is. */
function takeStakeRefusal(
  state: MovementState,
  judgement: Exclude<Judgement, { kind: 'success' }>,
  at: Date,
  rollback: FreshMovement,
  ended: Change,
): MovementStep {
  if (judgement.kind === 'rolled-back') {
    const told = state.unknownTries === 0 ? ({ refusalCode: 'WALLET_REJECTED' } as const) : {}
    return applied(
      state,
      at,
      { ...ended, ...told, status: 'ROLLED_BACK', dueAt: null },
      'transaction.rollback',
    )
  }
  if (judgement.kind === 'refused' && state.unknownTries === 0) {
    const failed = { ...ended, status: 'FAILED', refusalCode: judgement.code, dueAt: null } as const
    return applied(state, at, failed, 'transaction.failed')
  }
  if (judgement.kind === 'refused') return applied(state, at, { ...ended, ...owed(rollback, at) })
  const nextAt = nextStakeTryAt(state.createdAt, state.tries, at)
  if (nextAt === null) return applied(state, at, { ...ended, ...owed(rollback, at) })
  return applied(state, at, { ...ended, dueAt: nextAt })
}

function spendBudget(state: MovementState, at: Date, rollback: FreshMovement): MovementStep {
  if (nextAction(state, at) !== 'budget-spent') return ignored(state)
  return applied(state, at, {
    pendingCode: state.pendingCode ?? 'WALLET_TIMEOUT',
    ...owed(rollback, at),
  })
}

function askVoid(
  state: MovementState,
  { at, rollback, requestHash }: Extract<MovementMessage, { kind: 'void-asked' }>,
): MovementStep {
  if (state.type !== 'BET' || state.status !== 'PENDING' || state.reversal !== null) return ignored(state)
  return applied(state, at, {
    pendingCode: state.pendingCode ?? 'WALLET_UNAVAILABLE',
    ...owed(rollback, at, requestHash),
  })
}

function askReversal(
  state: MovementState,
  message: Extract<MovementMessage, { kind: 'reversal-asked' }>,
): MovementStep {
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
  if (state.reversal !== null || state.status === 'REFUNDED' || state.status === 'ROLLED_BACK') {
    return refusal('TRANSACTION_ALREADY_REVERSED', 'The movement has been refunded or rolled back already.')
  }
  if (state.status === 'FAILED')
    return refusal('CONFLICT', 'The movement failed; there is nothing to give back.')
  if (state.status === 'SUCCESS') return null
  if (type === 'REFUND') return refusal('CONFLICT', 'The bet is pending; roll it back instead.')
  return state.type === 'BET' ? null : refusal('CONFLICT', 'A pending win cannot be rolled back.')
}

function dropConflictedReversal(
  state: MovementState,
  { at, transactionId, rollback }: Extract<MovementMessage, { kind: 'reversal-conflicted' }>,
): MovementStep {
  const { reversal } = state
  if (reversal === null || reversal.transactionId !== transactionId || reversal.placed) return ignored(state)
  if (reversal.origin === 'service') {
    return applied(state, at, { reversal: { ...reversal, ...rollback }, dueAt: at })
  }
  return applied(state, at, { reversal: null, dueAt: state.status === 'PENDING' ? at : null })
}

function acknowledgeReversal(
  state: MovementState,
  { at, transactionId }: Extract<MovementMessage, { kind: 'reversal-acknowledged' }>,
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

function giveUpReversal(
  state: MovementState,
  { at, transactionId }: Extract<MovementMessage, { kind: 'reversal-given-up' }>,
): MovementStep {
  if (state.reversal?.transactionId !== transactionId) return ignored(state)
  if (state.status === 'SUCCESS') return applied(state, at, { reversal: null, dueAt: null })
  if (state.status !== 'PENDING') return ignored(state)
  const failed = { status: 'FAILED', refusalCode: 'WALLET_REJECTED', call: null, dueAt: null } as const
  return applied(state, at, failed, 'transaction.failed')
}

function resolveByPerson(
  state: MovementState,
  { at, as }: Extract<MovementMessage, { kind: 'resolved' }>,
): MovementStep {
  const conflict = (message: string): MovementStep => ({ kind: 'refused', state, code: 'CONFLICT', message })
  if (state.status !== 'PENDING') return conflict(`The movement is ${state.status} already.`)
  if (state.call !== null) return conflict('A wallet call is in flight; repeat in a moment.')
  if (state.reversal !== null) return conflict(`Resolve its rollback ${state.reversal.reference} instead.`)
  if (state.type === 'BET') return conflict('The service ends a stake by itself within seconds.')
  if (as === 'success') return succeed(state, at, {})
  const failed = { status: 'FAILED', refusalCode: 'WALLET_REJECTED', dueAt: null } as const
  return applied(state, at, failed, 'transaction.failed')
}

type Change = Partial<Omit<MovementState, 'type' | 'operation' | 'createdAt' | 'updatedAt'>>

const eventOfSuccess = {
  BET: 'transaction.bet',
  WIN: 'transaction.win',
  REFUND: 'transaction.bet',
  ROLLBACK: 'transaction.rollback',
} as const

function succeed(state: MovementState, at: Date, change: Change): MovementStep {
  return applied(
    state,
    at,
    { ...change, status: 'SUCCESS', call: null, dueAt: null },
    eventOfSuccess[state.type],
  )
}

function taken(judgement: Extract<Judgement, { kind: 'success' }>): Change {
  const { walletCode, walletTransactionId, balanceAfter } = judgement
  return { walletCode: walletCode === 'OK' ? null : walletCode, walletTransactionId, balanceAfter }
}

function owed(rollback: FreshMovement, at: Date, requestHash = ''): Change {
  return {
    dueAt: at,
    reversal: {
      ...rollback,
      type: 'ROLLBACK',
      origin: 'service',
      requestHash,
      roundClosed: true,
      askedAt: at,
      placed: false,
    },
  }
}

function applied(
  state: MovementState,
  at: Date,
  change: Change,
  event: MovementEventType | null = null,
): MovementStep {
  return { kind: 'applied', state: { ...state, ...change, updatedAt: at }, event }
}

function ignored(state: MovementState): MovementStep {
  return { kind: 'ignored', state }
}

function refusal(code: 'CONFLICT' | 'VALIDATION_ERROR' | 'TRANSACTION_ALREADY_REVERSED', message: string) {
  return { code, message } as const
}
