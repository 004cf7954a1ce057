import { inSpan } from '@pitboss/tracing/spans'
import type { WalletCallResult } from '../clients/wallet-client.ts'
import type { Judgement } from '../rules/movement.ts'
import type { MovementDocument } from '../storage/movement-document.ts'

type Work<Result> = () => Promise<Result>
type Judged = { readonly result: WalletCallResult; readonly answer: Judgement }

/** Takes a movement further, without a caller, below a span in the trace of what made it. */
export function traceAdvance<Result>(document: MovementDocument, requestId: string, work: Work<Result>) {
  const { traceparent = null } = document
  const options = { ...optionsOf(document, requestId), kind: 'internal', parent: traceparent } as const
  return inSpan('advance movement', options, work)
}

/** Makes a wallet call below a span. An unclear answer has the trace recorded, and so has each later call. */
export function traceWalletCall(document: MovementDocument, requestId: string, work: Work<Judged>) {
  const { operation, call, traceparent } = document
  const { attributes, ...options } = optionsOf(document, requestId)
  const about = { ...attributes, 'pitboss.attempt': call?.attempt ?? 0 }
  const spanOptions = { ...options, kind: 'client', orParent: traceparent, attributes: about } as const
  return inSpan(`wallet ${operation ?? 'none'}`, spanOptions, async (span) => {
    const judged = await work()
    const { exchange } = judged.result
    const { kind } = judged.answer
    span.set({
      'pitboss.judged': kind,
      ...(exchange.kind === 'answer' ? { 'http.response.status_code': exchange.httpStatus } : {}),
    })
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
