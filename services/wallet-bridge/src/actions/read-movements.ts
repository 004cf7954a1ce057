import type { Scope } from '@pitboss/contracts/caller'
import type { listTransactions } from '@pitboss/contracts/endpoints/wallet'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import type { CursorCodec } from '@pitboss/storage/cursor'
import { type PageQuery, readPage } from '@pitboss/storage/read-page'
import { z } from 'zod'
import { scopeOf } from '../rules/movement-keys.ts'
import { hasAnswer } from '../rules/movement.ts'
import type { MovementFilters, MovementLists } from '../storage/movement-lists.ts'
import type { MovementDocument } from '../storage/movement-document.ts'
import type { MovementStore } from '../storage/movement-store.ts'

type ListQuery = z.infer<typeof listTransactions.call.request>['query']

/** Bounds the reply; the contract of the call names this number. */
const roundMovementsMax = 500
const defaultWindowMs = 7 * 24 * 60 * 60 * 1000
const positionSchema = z.string().regex(/^txn_[0-9a-z]{26}$/)
const attemptSchema = z.int().min(1)

export type ReadMovements = ReturnType<typeof createReadMovements>

/** Reads movements for rounds, which keeps none of them itself. */
export function createReadMovements({ movements }: { movements: MovementStore }) {
  return {
    /** The movement of that id, and whether its first try has ended; null when there is none. */
    async find(scope: Scope, transactionId: string) {
      const document = await movements.find(scope, transactionId)
      if (document === null) return null
      const answered = hasAnswer(document)
      // Rounds may answer by it: what the answer names, lists show.
      if (answered) await movements.listed(document)
      return { document, answered }
    },
    /** The movements of a round, oldest first, at most 500. */
    async ofRound(scope: Scope, roundId: string) {
      const found = await movements.ofRound(scope, roundId, roundMovementsMax)
      await Promise.all(found.filter(hasAnswer).map((document) => movements.listed(document)))
      return found
    },
  }
}

export type ReadTransactions = ReturnType<typeof createReadTransactions>

/** Reads movements for operators' servers and the dashboard. Source: docs/contract.md, section 5. */
export function createReadTransactions({
  movements,
  lists,
  cursors,
}: {
  movements: MovementStore
  lists: MovementLists
  cursors: CursorCodec
}) {
  /**
   * The movement of that id in the first of the scopes that has it. @throws ServiceError
   * TRANSACTION_NOT_FOUND
   */
  async function find(scopes: readonly Scope[], transactionId: string): Promise<MovementDocument> {
    for (const scope of scopes) {
      const found = await movements.find(scope, transactionId)
      if (found !== null) return found
    }
    throw new ServiceError('TRANSACTION_NOT_FOUND')
  }

  return {
    find,
    /** The movements of a round, oldest first. */
    ofRound: (scope: Scope, roundId: string, limit: number) => movements.ofRound(scope, roundId, limit),
    /**
     * Newest first. @throws ServiceError VALIDATION_ERROR for a bad cursor or a window that ends before it
     * begins
     */
    async list(scope: Scope, { limit, cursor, ...query }: ListQuery) {
      return readPage({
        cursors,
        binding: { list: 'transactions', scope, ...query },
        query: { limit, cursor },
        position: positionSchema,
        read: (before, max) => lists.newestFirst(scope, filtersOf(query), { before, limit: max }),
        positionOf: ({ reference }) => reference,
      })
    },
    /**
     * The wallet calls of a movement, in the order in which they were made. Throws as `find` and `list` do.
     */
    async attempts(scopes: readonly Scope[], transactionId: string, query: PageQuery) {
      const document = await find(scopes, transactionId)
      return readPage({
        cursors,
        binding: { list: 'attempts', scope: scopeOf(document), reference: document.reference },
        query,
        position: attemptSchema,
        read: async (after, max) =>
          document.attempts.filter(({ attempt }) => attempt > (after ?? 0)).slice(0, max),
        positionOf: ({ attempt }) => attempt,
      })
    },
  }
}

function filtersOf(query: Omit<ListQuery, 'limit' | 'cursor'>): MovementFilters {
  const to = query.to === undefined ? undefined : new Date(query.to)
  const given = query.from === undefined ? undefined : new Date(query.from)
  const from = given ?? (to === undefined ? undefined : new Date(to.getTime() - defaultWindowMs))
  if (from !== undefined && to !== undefined && from > to)
    throw invalidField('from', 'must not be after "to"')
  return {
    playerId: query.player_id,
    roundId: query.round_id,
    sessionId: query.session_id,
    type: query.type,
    status: query.status,
    from,
    to,
  }
}
