import type { Scope } from '@pitboss/contracts/caller'
import type { listTransactions } from '@pitboss/contracts/endpoints/wallet'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import type { CursorCodec } from '@pitboss/storage/cursor'
import { z } from 'zod'
import { scopeOf } from '../rules/movement-keys.ts'
import { hasAnswer } from '../rules/movement.ts'
import type { MovementFilters, MovementLists } from '../storage/movement-lists.ts'
import type { MovementDocument, MovementStore } from '../storage/movements.ts'

type ListQuery = z.infer<typeof listTransactions.call.request>['query']
type PageQuery = Pick<ListQuery, 'limit' | 'cursor'>

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
      return document === null ? null : { document, answered: hasAnswer(document) }
    },
    /** The movements of a round, oldest first, at most 500. */
    ofRound: (scope: Scope, roundId: string) => movements.ofRound(scope, roundId, roundMovementsMax),
  }
}

export type ReadTransactions = ReturnType<typeof createReadTransactions>

/**
 * Reads movements for operators' servers and the dashboard. `next` is the cursor of the next page, or null
 * after the last. Source: docs/contract.md, section 5.
 */
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
    /**
     * Newest first. @throws ServiceError VALIDATION_ERROR for a bad cursor or a window that ends before it
     * begins
     */
    async list(scope: Scope, { limit, cursor, ...query }: ListQuery) {
      const binding = { list: 'transactions', scope, ...query }
      const before = cursor === undefined ? null : positionOf(positionSchema, cursors.decode(binding, cursor))
      const found = await lists.newestFirst(scope, filtersOf(query), { before, limit: limit + 1 })
      const documents = found.slice(0, limit)
      const last = documents.at(-1)
      const more = found.length > limit && last !== undefined
      return { documents, next: more ? cursors.encode(binding, last.reference) : null }
    },
    /**
     * The wallet calls of a movement, in the order in which they were made. Throws as `find` and `list` do.
     */
    async attempts(scopes: readonly Scope[], transactionId: string, { limit, cursor }: PageQuery) {
      const document = await find(scopes, transactionId)
      const binding = { list: 'attempts', scope: scopeOf(document), reference: document.reference }
      const after = cursor === undefined ? 0 : positionOf(attemptSchema, cursors.decode(binding, cursor))
      const rest = document.attempts.filter(({ attempt }) => attempt > after)
      const attempts = rest.slice(0, limit)
      const last = attempts.at(-1)
      const more = rest.length > limit && last !== undefined
      return { attempts, next: more ? cursors.encode(binding, last.attempt) : null }
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

function positionOf<T>(schema: z.ZodType<T>, decoded: unknown): T {
  const position = schema.safeParse(decoded)
  if (!position.success) throw invalidField('cursor', 'is damaged or belongs to another list')
  return position.data
}
