import { applied, eventOfSuccess, ignored } from './movement.ts'
import type { Change, Judgement, MessageOf, MovementMessage } from './movement.ts'
import type { MovementState, MovementStep, OwnRollback } from './movement.ts'
import { hasCome, nextOwedTryAt, nextStakeTryAt, type ScaleMs } from './retry-schedule.ts'
import * as reversals from './reverse-movement.ts'

/** A message that does not fit the state changes nothing. Source: docs/contract.md, sections 5 and 11. */
export function advanceMovement(state: MovementState, message: MovementMessage, scaleMs: ScaleMs) {
  switch (message.kind) {
    case 'call-begun':
      return beginCall(state, message, scaleMs)
    case 'answered':
      if (state.call === null || state.call.token !== message.token) return ignored(state)
      return takeAnswer(state, message, scaleMs)
    case 'call-lost':
      if (state.call === null || !hasCome(state.call.until, message.at, scaleMs)) return ignored(state)
      return takeAnswer(state, { at: message.at, judgement: lostCall, rollback: null }, scaleMs)
    case 'budget-spent':
    case 'rollback-held':
    case 'known-taken':
      return nextAction(state, message.at, scaleMs) === 'budget-spent'
        ? endBudget(state, message)
        : ignored(state)
    case 'void-asked':
      return reversals.askVoid(state, message)
    case 'reversal-asked':
      return reversals.askReversal(state, message)
    case 'reversal-placed':
      return reversals.markPlaced(state, message)
    case 'reversal-conflicted':
      return reversals.dropConflictedReversal(state, message)
    case 'reversal-acknowledged':
      return reversals.acknowledgeReversal(state, message)
    case 'reversal-known':
      return reversals.learnReversal(state, message)
    case 'reversal-given-up':
      return reversals.giveUpReversal(state, message)
    case 'hinted':
      if (state.status !== 'PENDING' || state.call !== null) return ignored(state)
      if (state.dueAt === null || state.dueAt <= message.at) return ignored(state)
      return applied(state, message.at, { dueAt: message.at })
    case 'resolved':
      return resolveByPerson(state, message)
  }
}

export type NextAction = 'call' | 'call-lost' | 'budget-spent' | 'place-reversal' | 'wait'

/** Decides what to do with a movement at `now`. A time too far away counts as come. */
export function nextAction(state: MovementState, now: Date, scaleMs: ScaleMs): NextAction {
  if (state.reversal !== null && !state.reversal.placed) return 'place-reversal'
  if (state.call !== null) return hasCome(state.call.until, now, scaleMs) ? 'call-lost' : 'wait'
  if (state.status !== 'PENDING' || state.operation === null || state.reversal !== null) return 'wait'
  if (state.dueAt === null || !hasCome(state.dueAt, now, scaleMs)) return 'wait'
  if (state.type !== 'BET') return 'call'
  return nextStakeTryAt(state.createdAt, state.tries, now) === null ? 'budget-spent' : 'call'
}

const lostCall: Judgement = {
  kind: 'unknown',
  code: 'WALLET_TIMEOUT',
  walletCode: null,
  reason: 'the process that made the call did not record an answer',
}

function beginCall(state: MovementState, message: MessageOf<'call-begun'>, scaleMs: ScaleMs): MovementStep {
  const { at, token, leaseMs } = message
  if (nextAction(state, at, scaleMs) !== 'call') return ignored(state)
  const until = new Date(at.getTime() + leaseMs)
  const tries = state.tries + 1
  return applied(state, at, { tries, call: { token, attempt: tries, startedAt: at, until }, dueAt: until })
}

type Refusal = Answer & { readonly judgement: Exclude<Judgement, { kind: 'success' }> }
type Answer = {
  readonly at: Date
  readonly judgement: Judgement
  /** Null for a lost call: whether a rollback is owed is found out afterwards. */
  readonly rollback: OwnRollback | null
}

function takeAnswer(state: MovementState, answer: Answer, scaleMs: ScaleMs): MovementStep {
  const { at, judgement } = answer
  const unknown = judgement.kind === 'unknown'
  const ended: Change = {
    call: null,
    unknownTries: state.unknownTries + (unknown ? 1 : 0),
    pendingCode: state.pendingCode ?? (unknown ? judgement.code : null),
    ...(judgement.kind === 'success' ? {} : { walletCode: judgement.walletCode ?? state.walletCode }),
  }
  if (state.status !== 'PENDING' || state.reversal !== null) {
    const dueAt = state.reversal !== null && !state.reversal.placed ? at : null
    return applied(state, at, { ...ended, dueAt })
  }
  if (judgement.kind === 'success') return succeed(state, at, { ...ended, ...taken(judgement) })
  if (state.type === 'BET') return takeStakeRefusal(state, { ...answer, judgement }, ended)
  const pendingCode = ended.pendingCode ?? 'WALLET_UNAVAILABLE'
  return applied(state, at, { ...ended, pendingCode, dueAt: nextOwedTryAt(state, at, scaleMs) })
}

/**
 * Takes a refusal of a stake. It is final only when the outcome of every earlier try is known: the wallet may
 * still take an earlier one. A tombstone is always final: the wallet takes no try after it. A refusal in a
 * word of the wallet's own is final for the caller, and its stake is rolled back all the same.
 */
function takeStakeRefusal(state: MovementState, answer: Refusal, ended: Change): MovementStep {
  const { at, judgement, rollback } = answer
  if (judgement.kind === 'rolled-back') {
    const refusal = state.unknownTries === 0 ? ({ refusalCode: 'WALLET_REJECTED' } as const) : {}
    const change: Change = { ...ended, ...refusal, status: 'ROLLED_BACK', dueAt: null }
    return applied(state, at, change, 'transaction.rollback')
  }
  const back = rollback === null ? { dueAt: at } : reversals.owed(rollback, at)
  if (judgement.kind === 'refused' && state.unknownTries === 0) {
    const failed = { ...ended, status: 'FAILED', refusalCode: judgement.code, dueAt: null } as const
    const isOwed = judgement.isUnlisted === true && rollback !== null
    const rest = isOwed ? reversals.owed(rollback, at, { ofRefused: true }) : {}
    return applied(state, at, { ...failed, ...rest }, 'transaction.failed')
  }
  if (judgement.kind === 'refused') return applied(state, at, { ...ended, ...back })
  const nextAt = nextStakeTryAt(state.createdAt, state.tries, at)
  return applied(state, at, { ...ended, ...(nextAt === null ? back : { dueAt: nextAt }) })
}

type BudgetEnd = MessageOf<'budget-spent' | 'rollback-held' | 'known-taken'>

function endBudget(state: MovementState, message: BudgetEnd): MovementStep {
  const { at } = message
  if (message.kind === 'known-taken') return succeed(state, at, {})
  if (message.kind === 'rollback-held')
    return applied(state, at, { dueAt: message.until, inDoubt: true, doubt: message.doubt })
  const pendingCode = state.pendingCode ?? 'WALLET_TIMEOUT'
  return applied(state, at, { pendingCode, ...reversals.owed(message.rollback, at) })
}

function resolveByPerson(state: MovementState, { at, as, rollback }: MessageOf<'resolved'>): MovementStep {
  const conflict = (message: string): MovementStep => ({ kind: 'refused', state, code: 'CONFLICT', message })
  if (state.status !== 'PENDING') return conflict(`The movement is ${state.status} already.`)
  if (state.call !== null) return conflict('A wallet call is in flight; repeat in a moment.')
  if (state.reversal !== null) return conflict(`Resolve its rollback ${state.reversal.reference} instead.`)
  if (state.type === 'BET' && state.inDoubt !== true)
    return conflict('The service ends a stake by itself within seconds.')
  if (as === 'success') return succeed(state, at, {})
  if (state.type === 'BET') return applied(state, at, reversals.owed(rollback, at))
  const failed = { status: 'FAILED', refusalCode: 'WALLET_REJECTED', dueAt: null } as const
  return applied(state, at, failed, state.ofRefused === true ? null : 'transaction.failed')
}

function succeed(state: MovementState, at: Date, change: Change): MovementStep {
  const event = state.ofRefused === true ? null : eventOfSuccess[state.type]
  return applied(state, at, { ...change, status: 'SUCCESS', call: null, dueAt: null }, event)
}

function taken(judgement: Extract<Judgement, { kind: 'success' }>): Change {
  const { walletCode, walletTransactionId, balanceAfter } = judgement
  return { walletCode: walletCode === 'OK' ? null : walletCode, walletTransactionId, balanceAfter }
}
