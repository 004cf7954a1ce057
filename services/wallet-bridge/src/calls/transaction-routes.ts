import { type Caller, lookupScopes, type Scope } from '@pitboss/contracts/caller'
import {
  dashboardGetTransaction,
  dashboardGetTransactionAttempts,
  dashboardListTransactions,
  getTransaction,
  getTransactionAttempts,
  listTransactions,
} from '@pitboss/contracts/endpoints/wallet'
import { toHappening } from '@pitboss/contracts/environments'
import type { SetupEnvironment } from '@pitboss/contracts/primitives'
import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import type { CursorCodec } from '@pitboss/storage/cursor'
import { z } from 'zod'
import { toAttemptRecord, toMovementRecord } from '../records/render-movement.ts'
import { scopeOf } from '../rules/movement-keys.ts'
import type { MovementDocument } from '../storage/movement-document.ts'
import type { MovementFilters, MovementLists } from '../storage/movement-lists.ts'
import type { MovementStore } from '../storage/movements.ts'

const defaultWindowMs = 7 * 24 * 60 * 60 * 1000
const positionSchema = z.string().regex(/^txn_[0-9a-z]{26}$/)
const attemptSchema = z.int().min(1)

/** Reads of movements for operators' servers and for the dashboard. Source: contract section 5. */
export function transactionRoutes({
  movements,
  lists,
  cursors,
}: {
  movements: MovementStore
  lists: MovementLists
  cursors: CursorCodec
}): CallHandler[] {
  return [
    handler(listTransactions.call, async ({ caller, query }) => ({
      status: 200,
      body: await page(caller.scope, query),
    })),
    handler(dashboardListTransactions.call, async ({ caller, query: { environment, ...query } }) => ({
      status: 200,
      body: await page(dashboardScope(caller, environment ?? 'TEST'), query),
    })),
    handler(getTransaction.call, async ({ caller, params }) => ({
      status: 200,
      body: toMovementRecord(await find([caller.scope], params.transaction_id)),
    })),
    handler(dashboardGetTransaction.call, async ({ caller, params, query }) => ({
      status: 200,
      body: toMovementRecord(await find(scopesOf(caller, query.environment), params.transaction_id)),
    })),
    handler(getTransactionAttempts.call, async ({ caller, params, query }) => ({
      status: 200,
      body: attemptsPage(await find([caller.scope], params.transaction_id), query),
    })),
    handler(dashboardGetTransactionAttempts.call, async ({ caller, params, query }) => ({
      status: 200,
      body: attemptsPage(await find(scopesOf(caller, query.environment), params.transaction_id), query),
    })),
  ]

  async function find(scopes: readonly Scope[], transactionId: string): Promise<MovementDocument> {
    for (const scope of scopes) {
      const found = await movements.find(scope, transactionId)
      if (found !== null) return found
    }
    throw new ServiceError('TRANSACTION_NOT_FOUND')
  }

  async function page(scope: Scope, { limit, cursor, ...query }: ListQuery) {
    const binding = { list: 'transactions', scope, ...query }
    const before = cursor === undefined ? null : positionOf(positionSchema, cursors.decode(binding, cursor))
    const found = await lists.newestFirst(scope, filtersOf(query), { before, limit: limit + 1 })
    const data = found.slice(0, limit)
    const last = data.at(-1)
    const more = found.length > limit && last !== undefined
    return {
      data: data.map(toMovementRecord),
      next_cursor: more ? cursors.encode(binding, last.reference) : null,
    }
  }

  /** Attempts are read in the order in which they were made. */
  function attemptsPage(document: MovementDocument, { limit, cursor }: PageQuery) {
    const binding = { list: 'attempts', scope: scopeOf(document), reference: document.reference }
    const after = cursor === undefined ? 0 : positionOf(attemptSchema, cursors.decode(binding, cursor))
    const rest = document.attempts.filter(({ attempt }) => attempt > after)
    const data = rest.slice(0, limit)
    const last = data.at(-1)
    const more = rest.length > limit && last !== undefined
    return {
      data: data.map(toAttemptRecord),
      next_cursor: more ? cursors.encode(binding, last.attempt) : null,
    }
  }
}

type ListQuery = z.infer<typeof listTransactions.call.request>['query']
type PageQuery = Pick<ListQuery, 'limit' | 'cursor'>

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

function dashboardScope(caller: Caller, environment: SetupEnvironment): Scope {
  return { operatorId: caller.scope.operatorId, environment: toHappening(environment) }
}

function scopesOf(caller: Caller, environment: SetupEnvironment | undefined): Scope[] {
  return environment === undefined ? lookupScopes(caller) : [dashboardScope(caller, environment)]
}
