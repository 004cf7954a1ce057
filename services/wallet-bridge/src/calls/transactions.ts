import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { type Caller, lookupScopes, type Scope } from '@pitboss/contracts/caller'
import {
  dashboardGetTransaction,
  dashboardGetTransactionAttempts,
  dashboardListTransactions,
  getTransaction,
  getTransactionAttempts,
  listTransactions,
} from '@pitboss/contracts/endpoints/wallet'
import { toEventEnvironment, type AccountMode } from '@pitboss/contracts/primitives'
import type { ReadTransactions } from '../actions/read-movements.ts'
import { toAttemptRecord, toMovementRecord } from '../records/render-movement.ts'

/** The reads of movements by operators' servers and by the dashboard. Source: docs/contract.md, section 5. */
export function transactionCalls({ read }: { read: ReadTransactions }): CallHandler[] {
  const list = async (...asked: Parameters<ReadTransactions['list']>) => {
    const { documents, next } = await read.list(...asked)
    return { status: 200, body: { data: documents.map(toMovementRecord), next_cursor: next } }
  }
  const show = async (...asked: Parameters<ReadTransactions['find']>) => ({
    status: 200,
    body: toMovementRecord(await read.find(...asked)),
  })
  const attempts = async (...asked: Parameters<ReadTransactions['attempts']>) => {
    const { attempts, next } = await read.attempts(...asked)
    return { status: 200, body: { data: attempts.map(toAttemptRecord), next_cursor: next } }
  }
  return [
    handler(listTransactions.call, ({ caller, query }) => list(caller.scope, query)),
    handler(dashboardListTransactions.call, ({ caller, query: { environment, ...query } }) =>
      list(dashboardScope(caller, environment ?? 'TEST'), query),
    ),
    handler(getTransaction.call, ({ caller, params }) => show([caller.scope], params.transaction_id)),
    handler(dashboardGetTransaction.call, ({ caller, params, query }) =>
      show(scopesOf(caller, query.environment), params.transaction_id),
    ),
    handler(getTransactionAttempts.call, ({ caller, params, query }) =>
      attempts([caller.scope], params.transaction_id, query),
    ),
    handler(dashboardGetTransactionAttempts.call, ({ caller, params, query }) =>
      attempts(scopesOf(caller, query.environment), params.transaction_id, query),
    ),
  ]
}

function dashboardScope(caller: Caller, environment: AccountMode): Scope {
  return { operatorId: caller.scope.operatorId, environment: toEventEnvironment(environment) }
}

function scopesOf(caller: Caller, environment: AccountMode | undefined): Scope[] {
  return environment === undefined ? lookupScopes(caller) : [dashboardScope(caller, environment)]
}
