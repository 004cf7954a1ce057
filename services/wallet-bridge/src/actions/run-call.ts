import { clockDifferenceMaxMs } from '@pitboss/runtime/clock'
import { failpoint } from '@pitboss/runtime/failpoint'
import type { Settlement } from '../context.ts'
import type { WalletCallResult } from '../clients/wallet-client.ts'
import { freshRollback } from '../records/new-movement.ts'
import { type Judgement, type WalletCall, wasAcknowledged } from '../rules/movement.ts'
import { callTimeoutMs } from '../rules/retry-schedule.ts'
import { addressFor } from '../rules/wallet.ts'
import { contradictionOf, judgeExchange } from '../rules/wallet-answers.ts'
import type { AttemptRecord, MovementDocument } from '../storage/movement-document.ts'
import type { AlsoChanged } from '../storage/round-money.ts'
import type { Wallet } from '../storage/wallet-document.ts'
import { applyMessage } from './apply-message.ts'
import { originalOf } from './read-movements.ts'
import { inSpan } from '@pitboss/tracing/spans'

/** Milliseconds between the clocks of two processes: each may differ from the database's. */
const clocksApartMs = 2 * clockDifferenceMaxMs
/** Time from its claim in which a call has to be sent; a later one waits for the end of its lease. */
const sendWithinMs = 2000
const excerptBytesMax = 4096

export function beginCall(wallet: Pick<Wallet, 'timeoutMs'>, at: Date, newId: (prefix: string) => string) {
  const leaseMs = sendWithinMs + wallet.timeoutMs + clocksApartMs
  return { kind: 'call-begun', at, token: newId('call'), leaseMs } as const
}

/**
 * Sends the call that is in flight, judges the answer and stores both; an acknowledged reversal ends its
 * original in the same entry. A wallet that does not know an original which it acknowledged acknowledges
 * nothing: operations have to see to it.
 */
export async function runCall(
  settlement: Settlement,
  document: MovementDocument,
  wallet: Wallet,
  requestId: string,
): Promise<MovementDocument> {
  const { client, breakers, metrics, clock, newId, logger } = settlement
  const { call, operation, body } = document
  if (call === null || operation === null) return document
  const now = clock.now()
  const stakedAt = document.type === 'BET' ? document.createdAt : null
  const timeoutMs = callTimeoutMs(wallet.timeoutMs, stakedAt, now)
  // A process that was held up must not send a call that others may give up as lost before its time-out.
  if (now.getTime() + timeoutMs + clocksApartMs > call.until.getTime()) return document
  await failpoint(`wallet.${operation}-before-call`)
  const url = addressFor(document.walletUrl, wallet)
  const { result, answer } = await traceWalletCall(document, requestId, async () => {
    const given = await client.call({ wallet: { ...wallet, url }, operation, body, requestId, timeoutMs })
    await failpoint(`wallet.${operation}-answered`)
    return { result: given, answer: judgeExchange(operation, document.currency, given.exchange) }
  })
  // An address that the wallet has left says nothing about the present one.
  if (url === wallet.url) breakers.record(wallet.key, answer.kind !== 'unknown')
  const original = answer.kind === 'success' ? await originalOf(settlement, document) : null
  const contradiction = original !== null && wasAcknowledged(original) ? contradictionOf(answer) : null
  const judgement = contradiction ?? answer
  metrics.callEnded(operation, judgement.kind, result.latencyMs)
  const about = logFieldsOf(document)
  if (judgement.kind === 'success' && judgement.walletCode === 'DUPLICATE' && call.attempt === 1) {
    metrics.repeatedAtFirstTry(operation)
    logger.error({ ...about, operation }, 'wallet-call.duplicate-at-first-try')
  }
  if (contradiction !== null) {
    const { reference, operator_id } = about
    const what = { reference, operator_id, original: document.referenceTransactionId, url }
    logger.error(what, 'movement.original-unknown')
  }
  const rollback = freshRollback(document, newId)
  const message = { kind: 'answered', at: clock.now(), token: call.token, judgement, rollback } as const
  const { document: after } = await applyMessage(settlement, document, message, {
    attemptOf: (nextAttemptAt) => ({ operation, ...attemptOf(call, result, judgement), nextAttemptAt }),
    ...(judgement.kind === 'success' && original !== null
      ? { alsoOf: endedOriginal(settlement, document, original) }
      : {}),
  })
  await failpoint(`wallet.${operation}-result-stored`)
  logger.info(
    {
      ...{ ...about, round_id: document.roundId, operation, attempt: call.attempt, request_id: requestId },
      ...{ duration_ms: result.latencyMs, judged: judgement.kind, wallet_code: judgement.walletCode },
      status: after.status,
      ...(judgement.kind === 'unknown' ? { reason: judgement.reason } : {}),
    },
    'wallet-call.ended',
  )
  return after
}

/** Returns the fields that name a movement in logs. */
export function logFieldsOf({ operatorId, environment, transactionId, reference }: MovementDocument) {
  return { operator_id: operatorId, environment, transaction_id: transactionId, reference }
}

/** What becomes of the original of an acknowledged reversal; it is read again where it has changed. */
function endedOriginal(settlement: Settlement, document: MovementDocument, seen: MovementDocument) {
  let known: MovementDocument | null = seen
  return async (): Promise<AlsoChanged | null> => {
    const original = known ?? (await originalOf(settlement, document))
    known = null
    if (original === null) return null
    const { transactionId } = document
    const at = settlement.clock.now()
    const step = settlement.rules(original, { kind: 'reversal-acknowledged', at, transactionId })
    return step.kind === 'applied' ? { document: original, state: step.state } : null
  }
}

/** The record of a call whose answer was never stored. */
export function lostAttemptOf(document: MovementDocument, nextAttemptAt: Date | null): AttemptRecord {
  return {
    attempt: document.call?.attempt ?? document.tries,
    operation: document.operation ?? 'credit',
    sentAt: document.call?.startedAt ?? document.updatedAt,
    ...{ latencyMs: null, request: null, httpStatus: null, walletCode: null, responseExcerpt: null },
    classification: 'UNKNOWN',
    error: 'no answer was recorded before the call was given up as lost',
    nextAttemptAt,
  }
}

const classifications = {
  success: 'SUCCESS',
  refused: 'REFUSED',
  'rolled-back': 'REFUSED',
  unknown: 'UNKNOWN',
} as const

function attemptOf({ attempt }: WalletCall, { exchange, ...sent }: WalletCallResult, judgement: Judgement) {
  const answered = exchange.kind === 'answer'
  const unreadable = judgement.kind === 'success' ? judgement.unreadable : []
  return {
    ...{ attempt, ...sent },
    httpStatus: answered ? exchange.httpStatus : null,
    walletCode: judgement.walletCode,
    classification: classifications[judgement.kind],
    error: judgement.kind === 'unknown' ? judgement.reason : null,
    ...(unreadable.length === 0 ? {} : { unreadable }),
    responseExcerpt: answered
      ? Buffer.from(exchange.body.subarray(0, excerptBytesMax)).toString('utf8')
      : null,
  }
}

type Work<Result> = () => Promise<Result>
type Judged = { readonly result: WalletCallResult; readonly answer: Judgement }

/** Takes a movement further, without a caller, below a span in the trace of what made it. */
export function traceAdvance<Result>(document: MovementDocument, requestId: string, work: Work<Result>) {
  const { traceparent = null } = document
  const options = { ...optionsOf(document, requestId), kind: 'internal', parent: traceparent } as const
  return inSpan('advance movement', options, work)
}

/** Makes a wallet call below a span. An unclear answer has the trace recorded, and so has each later call. */
function traceWalletCall(document: MovementDocument, requestId: string, work: Work<Judged>) {
  const { operation, call, traceparent } = document
  const { attributes, ...options } = optionsOf(document, requestId)
  const about = { ...attributes, 'pitboss.attempt': call?.attempt ?? 0 }
  const spanOptions = { ...options, kind: 'client', orParent: traceparent, attributes: about } as const
  return inSpan(`wallet ${operation ?? 'none'}`, spanOptions, async (span) => {
    const judged = await work()
    const { exchange } = judged.result
    const { kind } = judged.answer
    if (exchange.kind === 'answer') span.set({ 'http.response.status_code': exchange.httpStatus })
    span.set({ 'pitboss.judged': kind })
    if (kind === 'unknown') {
      span.unknown()
      span.fail(judged.answer.reason)
    }
    return judged
  })
}

function optionsOf(document: MovementDocument, requestId: string) {
  const attributes = {
    'pitboss.operator_id': document.operatorId,
    'pitboss.environment': document.environment,
    'pitboss.transaction_id': document.transactionId,
    'pitboss.round_id': document.roundId,
    'pitboss.movement_type': document.type,
    'pitboss.request_id': requestId,
  }
  return { attributes, requestId, isUnknown: document.unknownTries > 0 }
}
