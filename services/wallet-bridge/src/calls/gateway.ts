import { requireApproved } from '@pitboss/bus/ask-approval'
import type { Bus } from '@pitboss/bus/connect-bus'
import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import { doApproved } from '@pitboss/contracts/calls/approvals'
import { roundTransactions, walletHealth } from '@pitboss/contracts/calls/dashboard'
import {
  playerBalance,
  opsReconcileChunk,
  opsReconcileOurs,
  reconcileChunk,
  reconcileOurs,
  walletCallback,
  walletStatus,
} from '@pitboss/contracts/calls/wallet'
import {
  checkWallet,
  dashboardGetTransaction,
  dashboardGetTransactionAttempts,
  dashboardListTransactions,
  getTransaction,
  getTransactionAttempts,
  getWallet,
  getWalletSeries,
  listTransactions,
  putWallet,
  rotateWalletSecret,
} from '@pitboss/contracts/endpoints/wallet'
import { dossierMax } from '@pitboss/contracts/objects/dossier'
import type { walletPutSchema } from '@pitboss/contracts/objects/wallet'
import { answerPage } from '@pitboss/storage/read-page'
import type { z } from 'zod'
import type { OperatorWallets } from '../actions/operator-wallets.ts'
import type { CheckWallet } from '../actions/check-wallet.ts'
import type { ReadTransactions } from '../actions/read-movements.ts'
import type { ReadCallSeries } from '../actions/read-call-series.ts'
import type { ReconcileLedger } from '../actions/reconcile-ledger.ts'
import type { Callback } from '../actions/take-callback.ts'
import { toAttemptRecord, toMovementFacts, toMovementRecord } from '../records/render-movement.ts'
import { toWalletRecord } from '../records/render-wallet.ts'
import { dashboardScope, scopesOf } from './dashboard-scope.ts'

type GatewayParts = {
  bus: Pick<Bus, 'call'>
  wallets: OperatorWallets
  check: CheckWallet
  readSeries: ReadCallSeries
  transactions: ReadTransactions
  reconcile: ReconcileLedger
  takeCallback: (callback: Callback, requestId: string) => Promise<void>
}

/**
 * What the gateway asks, and rounds about wallets: settings and reads of the dashboard and of operators'
 * servers, signed callbacks, comparisons with an operator's own ledger in bounded chunks. Source:
 * docs/contract.md, sections 3, 5, 6 and 11.
 */
export function gatewayCalls(parts: GatewayParts): CallHandler[] {
  const { reconcile, takeCallback } = parts
  return [
    ...walletCalls(parts),
    ...transactionCalls(parts.transactions),
    ...compositionCalls(parts),
    handler(walletCallback, async (request, { requestId }) => {
      await takeCallback(request, requestId)
      return null
    }),
    ...[reconcileChunk, opsReconcileChunk].map((call) =>
      handler(call, ({ scope, rows }) => reconcile.compare(scope, rows)),
    ),
    ...[reconcileOurs, opsReconcileOurs].map((call) =>
      handler(call, ({ scope, from, to, after }) =>
        reconcile.ours(scope, { from: new Date(from), to: new Date(to) }, after),
      ),
    ),
  ]
}

function walletCalls({ bus, wallets, check, readSeries }: GatewayParts): CallHandler[] {
  return [
    handler(walletStatus, ({ scope }) => wallets.status(scope)),
    handler(playerBalance, async (request, { requestId }) => ({
      balance: await wallets.balance(request, requestId),
    })),
    handler(getWallet.call, async ({ caller, params }) => ({
      status: 200,
      body: toWalletRecord(await wallets.find(dashboardScope(caller, params.environment))),
    })),
    handler(getWalletSeries.call, async ({ caller, params, query }) => ({
      status: 200,
      body: await readSeries(dashboardScope(caller, params.environment), query),
    })),
    handler(putWallet.call, async ({ caller, params, body }, context) => {
      const scope = dashboardScope(caller, params.environment)
      const by = actedBy(caller, context)
      const { wallet, secret } = await wallets.put(scope, settingsOf(body), by, context)
      if (secret === null) return { status: 200, body: toWalletRecord(wallet) }
      return { status: 201, body: { ...toWalletRecord(wallet), secret } }
    }),
    handler(doApproved.wallet, async ({ order, seen, by }, context) => {
      await requireApproved({ order, seen, by }, { bus, context })
      const scope = { operatorId: by.operator_id ?? '', environment: 'LIVE' } as const
      return { result: await wallets.putApproved(scope, settingsOf(order.settings), Number(seen), by) }
    }),
    handler(rotateWalletSecret.call, async ({ caller, params, body }, context) => {
      const scope = dashboardScope(caller, params.environment)
      const by = actedBy(caller, context)
      const { wallet, secret } = await wallets.rotateSecret(scope, body.overlap_s, by, context)
      const previous_valid_until = wallet.formerSecret?.validUntil.toISOString() ?? null
      return { status: 200, body: { ...toWalletRecord(wallet), secret, previous_valid_until } }
    }),
    handler(checkWallet.call, async ({ caller, params }) => ({
      status: 200,
      body: await check(dashboardScope(caller, params.environment), caller.account.currencies[0] ?? 'USD'),
    })),
  ]
}

function settingsOf(body: z.output<typeof walletPutSchema>) {
  return {
    url: body.url,
    timeoutMs: body.timeout_ms,
    settleLosses: body.settle_losses,
    isSameLedger: body.same_ledger ?? false,
  }
}

function transactionCalls(read: ReadTransactions): CallHandler[] {
  const list = async (...asked: Parameters<ReadTransactions['list']>) => {
    return answerPage(await read.list(...asked), toMovementRecord)
  }
  const show = async (...asked: Parameters<ReadTransactions['find']>) => ({
    status: 200,
    body: toMovementRecord(await read.find(...asked)),
  })
  const attempts = async (...asked: Parameters<ReadTransactions['attempts']>) => {
    return answerPage(await read.attempts(...asked), toAttemptRecord)
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

/** What the gateway composes answers for people from. Source: docs/contract.md, section 3. */
function compositionCalls({ wallets, transactions }: GatewayParts): CallHandler[] {
  return [
    handler(roundTransactions, async ({ caller, roundId }) => {
      const max = dossierMax.movements
      const found = await transactions.ofRound(caller.scope, roundId, max + 1)
      return { data: found.slice(0, max).map(toMovementFacts), complete: found.length <= max }
    }),
    handler(walletHealth, async ({ caller }) => {
      const { isConfigured, isBreakerOpen, unresolved, oldest } = await wallets.health(caller.scope)
      return {
        configured: isConfigured,
        breaker_open: isBreakerOpen,
        unresolved,
        oldest_unresolved:
          oldest === null
            ? null
            : { transaction_id: oldest.transactionId, created_at: oldest.createdAt.toISOString() },
      }
    }),
  ]
}
