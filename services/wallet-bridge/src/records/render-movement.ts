import { scopeOf } from '@pitboss/contracts/caller'
import type { MovementEventData } from '@pitboss/contracts/objects/event'
import type { MovementFacts as DossierMovement } from '@pitboss/contracts/objects/dossier'
import type { Movement, MovementAttempt } from '@pitboss/contracts/objects/movement'
import type { WalletMovementCall } from '@pitboss/contracts/objects/wallet-call'
import { operatorHandleOf, toAccountMode } from '@pitboss/contracts/primitives'
import { eventIdOf } from '@pitboss/storage/event-id'
import { type RenderedEvent, renderEvent } from '@pitboss/storage/rendered-event'
import { eventOfEnd } from '../rules/event-of-end.ts'
import { type MovementEventType, type MovementType, outcomeOf } from '../rules/movement.ts'
import type { AttemptRecord, MovementDocument, MovementFacts } from '../storage/movement-document.ts'
import type { WalletDocument } from '../storage/wallet-document.ts'

/** Bounds of a movement in a dossier: the last wallet calls, and the characters of each answer. */
const factsAttemptsMax = 12
const factsExcerptCharacters = 256

/** The public record of a movement. Source: docs/contract.md, section 5. */
export function toMovementRecord(document: MovementDocument): Movement {
  const { game, freeBet: free_bet, walletCode: wallet_code, balanceAfter, environment } = document
  return {
    ...{ ...sharedFieldsOf(document), game, free_bet, wallet_code, balance_after: balanceAfter, environment },
    reference_transaction_id: document.referenceTransactionId,
    wallet_transaction_id: document.walletTransactionId,
    created_at: document.createdAt.toISOString(),
    updated_at: document.updatedAt.toISOString(),
  }
}

/** Returns the fields with which the record and the event of a movement begin. */
function sharedFieldsOf(document: MovementDocument) {
  const { transactionId: transaction_id, reference, type, status, amount, currency } = document
  const ids = { player_id: document.playerId, session_id: document.sessionId, round_id: document.roundId }
  return { transaction_id, reference, type, status, amount, currency, ...ids }
}

export function toMovementAnswer(document: MovementDocument) {
  const { settleLosses } = document
  return { movement: toMovementRecord(document), outcome: outcomeOf(document), settleLosses }
}

export function toMovementFacts(document: MovementDocument): DossierMovement {
  const { call, status, dueAt, type, reversal, inDoubt, doubt = 'no-round' } = document
  const isPending = status === 'PENDING'
  const rollbackOwed = isPending && type === 'BET' && reversal !== null
  const next = isPending && call === null && !rollbackOwed ? dueAt : null
  return {
    movement: toMovementRecord(document),
    attempts: document.attempts.slice(-factsAttemptsMax).map((attempt) => ({
      ...toAttemptRecord(attempt),
      response_excerpt: attempt.responseExcerpt?.slice(0, factsExcerptCharacters) ?? null,
    })),
    next_attempt_at: next?.toISOString() ?? null,
    call_began_at: isPending ? (call?.startedAt.toISOString() ?? null) : null,
    rollback_owed: rollbackOwed,
    ...(isPending && inDoubt === true && reversal === null ? { in_doubt: doubt } : {}),
  }
}

export function toOperationsRecord(document: MovementDocument, now: Date) {
  return {
    ...toMovementRecord(document),
    operator_id: operatorHandleOf(document.operatorId),
    next_attempt_at: document.status === 'PENDING' ? (document.dueAt?.toISOString() ?? null) : null,
    age_s: Math.max(0, Math.floor((now.getTime() - document.createdAt.getTime()) / 1000)),
  }
}

export function toOperationsCase(document: MovementDocument, now: Date) {
  return { movement: toOperationsRecord(document, now), attempts: document.attempts.map(toAttemptRecord) }
}

/** The public record of one wallet call. Source: docs/contract.md, section 5. */
export function toAttemptRecord(record: AttemptRecord): MovementAttempt {
  const { attempt, operation, latencyMs, httpStatus, walletCode: wallet_code } = record
  const { classification, request, error, unreadable, responseExcerpt: response_excerpt } = record
  return {
    ...{ attempt, operation, sent_at: record.sentAt.toISOString(), latency_ms: latencyMs },
    ...{ http_status: httpStatus, wallet_code, classification, error, response_excerpt },
    request: request && { url: request.url, timestamp: request.timestamp, request_id: request.requestId },
    ...(unreadable === undefined ? {} : { unreadable: [...unreadable] }),
    next_attempt_at: record.nextAttemptAt?.toISOString() ?? null,
  }
}

/** The event of a step. That of a stake which a tombstone ended names the stake as original. Section 11. */
export function toMovementEvent(movement: MovementDocument, type: MovementEventType): RenderedEvent {
  const failed = type === 'transaction.failed'
  const selfReversed = type === 'transaction.rollback' && movement.type === 'BET'
  const data: MovementEventData = {
    ...sharedFieldsOf(movement),
    status: failed ? 'FAILED' : 'SUCCESS',
    reference_transaction_id: selfReversed ? movement.transactionId : movement.referenceTransactionId,
    wallet_round_id: movement.walletRoundId,
    wallet_game_id: movement.walletGameId,
    free_bet: movement.freeBet,
    ...(failed ? { code: movement.refusalCode ?? 'WALLET_REJECTED', wallet_code: movement.walletCode } : {}),
  }
  const scope = scopeOf(movement)
  const id = eventIdOf(scope, { type, about: movement.transactionId, of: movement.roundId })
  return renderEvent({ id, type, createdAt: movement.updatedAt, scope, data })
}

/** Makes the event of a movement's end from its record; null when it has none. */
export function toEndEvent(document: MovementDocument) {
  const end = eventOfEnd(document)
  if (end === null) return null
  return { type: end.type, entry: toMovementEvent({ ...document, updatedAt: end.at }, end.type) }
}

/** The exact text that every try of a movement sends to the wallet. Source: docs/contract.md, section 6. */
export function renderWalletBody(facts: Omit<MovementFacts, 'body'>, type: MovementType, occurredAt: Date) {
  const { transactionId, referenceTransactionId, reference, game, sessionId, playerId, brandId } = facts
  const { walletRoundId: roundId, walletGameId: gameId, currency, amount, freeBet, roundClosed } = facts
  const call: WalletMovementCall = {
    ...{ transactionId, referenceTransactionId: referenceTransactionId ?? undefined, reference, type },
    ...{ roundId, gameId, game, sessionId, playerId, brandId: brandId ?? undefined },
    ...{ currency, amount, freeBet, roundClosed, occurredAt: occurredAt.toISOString() },
  }
  return JSON.stringify(call)
}

/** The dashboard's record of a wallet, without its secret. Source: docs/contract.md, section 3. */
export function toWalletRecord(wallet: WalletDocument) {
  const { environment, url, timeoutMs: timeout_ms, settleLosses: settle_losses } = wallet
  return {
    ...{ environment: toAccountMode(environment), url, timeout_ms, settle_losses },
    created_at: wallet.createdAt.toISOString(),
    updated_at: wallet.updatedAt.toISOString(),
  }
}
