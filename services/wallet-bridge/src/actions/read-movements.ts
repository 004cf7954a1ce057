import { type Caller, lookupScopes, type Scope, scopeOf } from '@pitboss/contracts/caller'
import { roundMovementsMax } from '@pitboss/contracts/calls/wallet-ops'
import type { dashboardListTransactions as endpoint } from '@pitboss/contracts/endpoints/wallet'
import { invalidField } from '@pitboss/errors/service-error'
import { readWindow, type WindowQuery } from '@pitboss/storage/created-within'
import { findInScopes } from '@pitboss/storage/find-in-scopes'
import { type PageQuery, readPage } from '@pitboss/storage/read-page'
import type { z } from 'zod'
import type { Settlement, WalletContext } from '../context.ts'
import { hasAnswer, hasWork } from '../rules/movement.ts'
import type { MovementDocument } from '../storage/movement-document.ts'
import type { MovementFilters } from '../storage/movement-lists.ts'

type ListQuery = z.infer<typeof endpoint.query>
type Movements = Pick<Settlement, 'movements'>
type Reads = Pick<WalletContext, 'movements' | 'cursors' | 'clock'>
type OfMovement = { readonly transaction_id: string }
type Lists = Pick<WalletContext, 'lists' | 'cursors'>

/** Lists show every step of a movement by then. */
const listedWithinMs = 10_000

/** Finds a movement for rounds, which keeps none itself, and whether its first try has ended. */
export async function findAnswered({ movements }: Movements, scope: Scope, transactionId: string) {
  const document = await movements.find(scope, transactionId)
  if (document === null) return null
  const answered = hasAnswer(document)
  // Rounds may answer by it: what the answer names, lists show.
  if (answered) await movements.listed(document)
  return { document, answered }
}

/** The movements of a round for rounds, oldest first, at most 500. */
export async function listOfRound({ movements }: Movements, scope: Scope, roundId: string) {
  const found = await movements.ofRound(scope, roundId, roundMovementsMax)
  await Promise.all(found.filter(hasAnswer).map((document) => movements.listed(document)))
  return found
}

/** Finds the movement in the first scope that has it. @throws ServiceError TRANSACTION_NOT_FOUND */
export async function findTransaction({ movements, clock }: Reads, caller: Caller, transactionId: string) {
  const find = (scope: Scope) => movements.find(scope, transactionId)
  const found = await findInScopes(lookupScopes(caller), find, 'TRANSACTION_NOT_FOUND')
  const isNew = clock.now().getTime() - found.updatedAt.getTime() < listedWithinMs
  if (isNew || hasWork(found)) await movements.listed(found)
  return found
}

/** What a refund or rollback gives back; null for other movements, and when it is lost. */
export async function originalOf({ movements }: Movements, document: MovementDocument) {
  const { type, referenceTransactionId } = document
  if ((type !== 'REFUND' && type !== 'ROLLBACK') || referenceTransactionId === null) return null
  return movements.find(scopeOf(document), referenceTransactionId)
}

/** Newest first. @throws ServiceError VALIDATION_ERROR for a bad cursor, or a window that ends first */
export async function listTransactions({ lists, cursors }: Lists, scope: Scope, asked: ListQuery) {
  const { limit, cursor, environment: _environment, ...query } = asked
  return readPage({
    cursors,
    binding: { list: 'transactions', scope, ...query },
    query: { limit, cursor },
    read: (before, max) => lists.newestFirst(scope, filtersOf(query), { before, limit: max }),
    positionOf: ({ reference }) => reference,
  })
}

/** The wallet calls of a movement, in the order in which they were made. Throws as the two above do. */
export async function listAttempts(context: Reads, caller: Caller, of: OfMovement, query: PageQuery) {
  const document = await findTransaction(context, caller, of.transaction_id)
  return readPage({
    cursors: context.cursors,
    binding: { list: 'attempts', scope: scopeOf(document), reference: document.reference },
    query,
    read: async (after: number | null, max) =>
      document.attempts.filter(({ attempt }) => attempt > (after ?? 0)).slice(0, max),
    positionOf: ({ attempt }) => attempt,
  })
}

/** @throws ServiceError VALIDATION_ERROR for a window that ends before it begins */
export function windowOf(query: WindowQuery) {
  const [from, to] = [query.from, query.to].map((at) => (at === undefined ? undefined : new Date(at)))
  if (from !== undefined && to !== undefined && from > to)
    throw invalidField('from', 'must not be after "to"')
  return { from, to }
}

function filtersOf(query: Omit<ListQuery, 'limit' | 'cursor' | 'environment'>): MovementFilters {
  const { to } = windowOf(query)
  const { from } = readWindow(query)
  const { player_id: playerId, round_id: roundId, session_id: sessionId, type, status } = query
  return { playerId, roundId, sessionId, type, status, from, to }
}
