import { inSpan } from '@pitboss/tracing/spans'
import type { WalletCallResult } from '../clients/wallet-client.ts'
import type { Judgement } from '../rules/movement.ts'
import type { MovementDocument } from '../storage/movement-document.ts'

type Judged = { readonly result: WalletCallResult; readonly answer: Judgement }

/** Takes a movement further, without a caller, below a span in the trace of what made it. */
export function traceAdvance<Result>(
  document: MovementDocument,
  requestId: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const { traceparent = null, unknownTries } = document
  const attributes = { ...factsOf(document), 'pitboss.request_id': requestId }
  const options = { kind: 'internal', parent: traceparent, attributes, requestId } as const
  return inSpan('advance movement', { ...options, isUnknown: unknownTries > 0 }, work)
}

/** Makes a wallet call below a span. An unclear answer has the trace recorded, and so has each later call. */
export function traceWalletCall(
  document: MovementDocument,
  requestId: string,
  work: () => Promise<Judged>,
): Promise<Judged> {
  const { operation, call, unknownTries, traceparent } = document
  const attributes = {
    ...factsOf(document),
    'pitboss.attempt': call?.attempt ?? 0,
    'pitboss.request_id': requestId,
  }
  const options = { kind: 'client', orParent: traceparent, attributes, requestId } as const
  return inSpan(
    `wallet ${operation ?? 'none'}`,
    { ...options, isUnknown: unknownTries > 0 },
    async (span) => {
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
    },
  )
}

function factsOf({ operatorId, environment, transactionId, roundId, type }: MovementDocument) {
  return {
    'pitboss.operator_id': operatorId,
    'pitboss.environment': environment,
    'pitboss.transaction_id': transactionId,
    'pitboss.round_id': roundId,
    'pitboss.movement_type': type,
  }
}
