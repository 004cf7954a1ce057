import type { Scope } from '@pitboss/contracts/caller'
import type { TransactionBody } from '@pitboss/contracts/objects/movement'
import { ServiceError } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import { readConfirmed } from '@pitboss/storage/confirm-primary'
import {
  deadIdMs,
  isSameMeaning,
  meaningOf,
  namesItsId,
  namingItsId,
  type Refusal,
  refusalError,
  refusalOf,
} from '../rules/refusal.ts'
import type { DeadId, DeadIdsStore } from '../storage/dead-ids-store.ts'
import type { StoredRound } from '../storage/round-document.ts'
import type { RoundsStore } from '../storage/rounds-store.ts'
import { findByMovement } from './find-by-movement.ts'
import type { Parts } from './parts.ts'

/** Tries of one request, when intents come and go beside it. */
const triesMax = 8

export type DeadIds = ReturnType<typeof createDeadIds>

/**
 * Creates the rule that an id of the operator's server is dead or has a movement, never both, whatever
 * arrives at once and whoever dies. Two documents decide, by a handshake: who kills an id proposes it, looks
 * for a movement, and makes it final only if there is none; who wants a movement stores its intent, looks for
 * a dead id, removes one that is not final, and takes the intent back for one that is. So of two that meet,
 * one sees the other. Source: docs/contract.md, section 1, "What a refusal promises".
 */
export function createDeadIds({
  rounds,
  deadIds,
  clock,
  newUuid,
}: {
  rounds: Pick<RoundsStore, 'listByTransaction' | 'confirmPrimary'>
  deadIds: DeadIdsStore
} & Pick<Parts, 'clock' | 'newUuid'>) {
  return { answerTo, answerToIntent, isDead, refuse, bury }

  /** The answer to a request whose id is dead; null while it lives. */
  async function answerTo(scope: Scope, body: TransactionBody): Promise<ServiceError | null> {
    const dead = deathOf(await deadIds.find(scope, body.transaction_id), body.type)
    if (dead === undefined) return null
    // What is answered once more stands for its whole time once more.
    if (dead.forgetAt !== null) await deadIds.finish(scope, dead, inItsTime())
    return answerOf(dead, body)
  }

  /** The answer to a request whose intent is stored, and must be taken back; null when it may be placed. */
  async function answerToIntent(scope: Scope, body: TransactionBody): Promise<ServiceError | null> {
    const dead = await deathOfIntent(scope, body.transaction_id, body.type)
    return dead === null ? null : answerOf(dead, body)
  }

  /** Whether a movement whose intent is stored must never be placed. */
  async function isDead(scope: Scope, transactionId: string, type: TransactionBody['type']) {
    return (await deathOfIntent(scope, transactionId, type)) !== null
  }

  async function deathOfIntent(
    scope: Scope,
    transactionId: string,
    type: TransactionBody['type'],
  ): Promise<DeadId | null> {
    for (let tries = 0; tries < triesMax; tries++) {
      const found = (await deadIds.find(scope, transactionId)).filter((one) => concerns(one, type))
      const dead = deathOf(found, type)
      if (dead !== undefined) return dead
      if (found.length === 0) return null
      for (const one of found) await deadIds.giveWay(scope, one)
    }
    throw keepsChanging(transactionId)
  }

  /**
   * Refuses a request that has no movement, for good if `error` kills its id.
   * @returns the round in which an equal request, or another with this id, was first
   * @throws ServiceError `error`; the refusal that was first; TRANSACTION_CONFLICT when it was another body's
   */
  async function refuse(scope: Scope, body: TransactionBody, error: unknown): Promise<StoredRound> {
    if (!(error instanceof ServiceError) || error.retryable || namesItsId(error)) throw error
    const { transaction_id: transactionId } = body
    const refusal = refusalOf(error)
    if (refusal === null) {
      // No write stands behind this refusal: only a confirmed primary knows that nobody was first.
      const other = await readConfirmed(() => findMovement(scope, transactionId), {
        confirm: () => rounds.confirmPrimary(),
      })
      if (other === null) throw error
      return other
    }
    const opens = body.type === 'BET' && body.round_id === undefined
    const forgetAt = opens ? inItsTime() : null
    const killed = await kill(scope, {
      ...{ ...refusal, kind: kindOf(body.type), transactionId, meaning: meaningOf(body) },
      ...{ token: newUuid(), isFinal: false, forgetAt },
    })
    if ('round' in killed) return killed
    throw answerOf(killed, body)
  }

  /**
   * Leaves a tombstone under the id of a stake or win that a rollback asks for and that has not arrived.
   * @returns the round of the movement if it has arrived meanwhile; null once the tombstone stands
   */
  async function bury(scope: Scope, transactionId: string): Promise<StoredRound | null> {
    const killed = await kill(scope, {
      ...{ ...buried, kind: 'movement', transactionId, meaning: null },
      ...{ token: newUuid(), isFinal: false, forgetAt: inItsTime() },
    })
    return 'round' in killed ? killed : null
  }

  async function kill(scope: Scope, proposed: DeadId): Promise<DeadId | StoredRound> {
    const { transactionId } = proposed
    for (let tries = 0; tries < triesMax; tries++) {
      const dead = await deadIds.propose(scope, proposed)
      if (dead === null) continue
      await failpoint('rounds.id-proposed')
      const other = dead.isFinal ? null : await findMovement(scope, transactionId)
      if (other !== null) {
        await deadIds.giveWay(scope, dead)
        return other
      }
      if (await deadIds.finish(scope, dead, dead.forgetAt === null ? null : inItsTime())) return dead
    }
    throw keepsChanging(transactionId)
  }

  async function findMovement(scope: Scope, transactionId: string): Promise<StoredRound | null> {
    return (await findByMovement(rounds, scope, transactionId))[0] ?? null
  }

  function inItsTime(): Date {
    return new Date(clock.now().getTime() + deadIdMs)
  }
}

const buried: Refusal = {
  code: 'TRANSACTION_ALREADY_REVERSED',
  message: 'A rollback of this id came before it; it moves nothing.',
  details: null,
}

function answerOf({ kind, meaning, ...dead }: DeadId, body: TransactionBody): ServiceError {
  const isOther = kind !== kindOf(body.type) || (meaning !== null && !isSameMeaning(meaning, meaningOf(body)))
  return isOther ? new ServiceError('TRANSACTION_CONFLICT') : namingItsId(refusalError(dead))
}

function kindOf(type: TransactionBody['type']): DeadId['kind'] {
  return type === 'BET' || type === 'WIN' ? 'movement' : 'reversal'
}

/** An id is one request's; a tombstone leaves it to what gives back. */
function concerns({ kind, meaning }: DeadId, type: TransactionBody['type']): boolean {
  return kind === kindOf(type) || meaning !== null
}

/** What decides, of entries that requests of both kinds have left: that of its own. */
function deathOf(found: readonly DeadId[], type: TransactionBody['type']): DeadId | undefined {
  const dead = found.filter((one) => one.isFinal && concerns(one, type))
  return dead.find(({ kind }) => kind === kindOf(type)) ?? dead[0]
}

function keepsChanging(transactionId: string): ServiceError {
  const cause = new Error(`movements under ${transactionId} kept being stored and taken back`)
  return new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1, cause })
}
