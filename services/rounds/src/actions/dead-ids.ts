import type { Scope } from '@pitboss/contracts/caller'
import type { TransactionBody } from '@pitboss/contracts/objects/movement'
import { ServiceError } from '@pitboss/errors/service-error'
import { readConfirmed } from '@pitboss/storage/confirm-primary'
import {
  isSameMeaning,
  meaningOf,
  namesItsId,
  namingItsId,
  refusalError,
  refusalOf,
} from '../rules/refusal.ts'
import { movementKey, type DeadRequest } from '../storage/round-stream.ts'
import type { StoredRound } from '../storage/round-document.ts'
import type { PlayContext } from '../context.ts'

const triesMax = 8

type Reading = Pick<PlayContext, 'rounds' | 'deadRequests'>

/*
 * An id of the operator's server is dead or has a movement, never both: each claims the id, and the first
 * insert decides it for ever. Source: docs/contract.md, section 1, "What a refusal promises".
 */

/** The answer to a request whose id is dead; null while it lives. */
export async function findDeadAnswer(context: Reading, scope: Scope, body: TransactionBody) {
  const claimed = await context.rounds.findClaimed(movementKey(scope, body.transaction_id))
  if (claimed === null || 'stored' in claimed) return null
  const { dead } = claimed
  // An id is one request's; a tombstone leaves it to what gives back.
  return dead.kind === kindOf(body.type) || dead.meaning !== null ? answerOf(dead, body) : null
}

/**
 * Refuses a request without a movement, for good if `error` kills its id. @returns the round in which a
 * request with this id was first. @throws ServiceError `error`, or the first refusal; TRANSACTION_CONFLICT
 */
export async function refuseForGood(context: Reading, scope: Scope, body: TransactionBody, error: unknown) {
  if (!(error instanceof ServiceError) || error.retryable || namesItsId(error)) throw error
  const { transaction_id: transactionId } = body
  const refusal = refusalOf(error)
  if (refusal === null) {
    // Nothing was written for this refusal: only a confirmed primary knows that nobody was first.
    const [other] = await readConfirmed(() => context.rounds.listByTransaction(scope, transactionId), {
      confirm: context.rounds.confirmPrimary,
      isEmpty: (rounds) => rounds.length === 0,
    })
    if (other === undefined) throw error
    return other
  }
  const kind = kindOf(body.type)
  const killed = await kill(context, scope, transactionId, {
    ...{ ...refusal, kind, meaning: meaningOf(body), requestHash: null },
  })
  if ('round' in killed) return killed
  throw answerOf(killed, body)
}

/** Leaves a tombstone for a stake or win that has not arrived. @returns its round if it has meanwhile */
export async function bury(context: Reading, scope: Scope, transactionId: string) {
  const message = 'A rollback of this id came before it; it moves nothing.'
  const killed = await kill(context, scope, transactionId, {
    ...{ code: 'TRANSACTION_ALREADY_REVERSED', message, details: null },
    ...{ kind: 'movement', meaning: null, requestHash: null },
  })
  return 'round' in killed ? killed : null
}

async function kill(
  context: Reading,
  scope: Scope,
  transactionId: string,
  dead: DeadRequest,
): Promise<DeadRequest | StoredRound> {
  for (let tries = 0; tries < triesMax; tries++) {
    const claimed = await context.rounds.findClaimed(movementKey(scope, transactionId))
    if (claimed !== null && 'dead' in claimed) return claimed.dead
    const [other] = await context.rounds.listByTransaction(scope, transactionId)
    if (other !== undefined) return other
    if (await context.deadRequests.killMovement(scope, transactionId, dead)) return dead
  }
  const cause = new Error(`movements under ${transactionId} kept being stored and taken back`)
  throw new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1, cause })
}

function answerOf({ kind, meaning, ...dead }: DeadRequest, body: TransactionBody): ServiceError {
  const isOther = kind !== kindOf(body.type) || (meaning !== null && !isSameMeaning(meaning, meaningOf(body)))
  return isOther ? new ServiceError('TRANSACTION_CONFLICT') : namingItsId(refusalError(dead))
}

function kindOf(type: TransactionBody['type']): 'movement' | 'reversal' {
  return type === 'BET' || type === 'WIN' ? 'movement' : 'reversal'
}
