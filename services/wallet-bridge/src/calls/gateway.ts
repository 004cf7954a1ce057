import { requireApproved } from '@pitboss/bus/ask-approval'
import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import { doApproved } from '@pitboss/contracts/calls/approvals'
import { roundTransactions, walletHealth } from '@pitboss/contracts/calls/dashboard'
import * as calls from '@pitboss/contracts/calls/wallet'
import * as endpoints from '@pitboss/contracts/endpoints/wallet'
import type { Scope } from '@pitboss/contracts/caller'
import { dossierMax } from '@pitboss/contracts/objects/dossier'
import type { walletPutSchema } from '@pitboss/contracts/objects/wallet'
import { answerPage, type PageQuery } from '@pitboss/storage/read-page'
import type { z } from 'zod'
import { checkWallet } from '../actions/check-wallet.ts'
import * as wallets from '../actions/operator-wallets.ts'
import { findTransaction, listAttempts, listTransactions } from '../actions/read-movements.ts'
import { readCallSeries } from '../actions/read-call-series.ts'
import { compareRows, listMoved } from '../actions/reconcile-ledger.ts'
import { takeCallback } from '../actions/take-callback.ts'
import type { WalletContext } from '../context.ts'
import { toAttemptRecord, toMovementFacts, toMovementRecord } from '../records/render-movement.ts'
import { toWalletRecord } from '../records/render-wallet.ts'
import { dashboardScope, scopesOf } from './dashboard-scope.ts'

/**
 * Settings and reads of the dashboard and of operators' servers, signed callbacks, ledger comparisons.
 * Source: docs/contract.md, sections 3, 5, 6 and 11.
 */
export function gatewayCalls(context: WalletContext): CallHandler[] {
  return [
    ...walletCalls(context),
    ...transactionCalls(context),
    ...compositionCalls(context),
    handler(calls.walletCallback, async (callback, { requestId }) => {
      await takeCallback(context, callback, requestId)
      return null
    }),
    ...[calls.reconcileChunk, calls.opsReconcileChunk].map((call) =>
      handler(call, ({ scope, rows }) => compareRows(context, scope, rows)),
    ),
    ...[calls.reconcileOurs, calls.opsReconcileOurs].map((call) =>
      handler(call, ({ scope, from, to, after }) =>
        listMoved(context, scope, { from: new Date(from), to: new Date(to) }, after),
      ),
    ),
  ]
}

function walletCalls(context: WalletContext): CallHandler[] {
  return [
    handler(calls.walletStatus, ({ scope }) => wallets.readStatus(context, scope)),
    handler(calls.playerBalance, async (request, { requestId }) => ({
      balance: await wallets.askBalance(context, request, requestId),
    })),
    handler(endpoints.getWallet.call, async ({ caller, params }) => ({
      status: 200,
      body: toWalletRecord(await wallets.findWallet(context, dashboardScope(caller, params.environment))),
    })),
    handler(endpoints.getWalletSeries.call, async ({ caller, params, query }) => ({
      status: 200,
      body: await readCallSeries(context, dashboardScope(caller, params.environment), query),
    })),
    handler(endpoints.putWallet.call, async ({ caller, params, body }, call) => {
      const scope = dashboardScope(caller, params.environment)
      const by = actedBy(caller, call)
      const { wallet, secret } = await wallets.putWallet(context, scope, settingsOf(body), by, call)
      if (secret === null) return { status: 200, body: toWalletRecord(wallet) }
      return { status: 201, body: { ...toWalletRecord(wallet), secret } }
    }),
    handler(doApproved.wallet, async ({ order, seen, by }, call) => {
      await requireApproved({ order, seen, by }, { bus: context.bus, context: call })
      const scope = { operatorId: by.operator_id ?? '', environment: 'LIVE' } as const
      const settings = settingsOf(order.settings)
      return { result: await wallets.putApprovedWallet(context, scope, settings, Number(seen), by) }
    }),
    handler(endpoints.rotateWalletSecret.call, async ({ caller, params, body }, call) => {
      const scope = dashboardScope(caller, params.environment)
      const by = actedBy(caller, call)
      const { wallet, secret } = await wallets.rotateSecret(context, scope, body.overlap_s, by, call)
      const previous_valid_until = wallet.formerSecret?.validUntil.toISOString() ?? null
      return { status: 200, body: { ...toWalletRecord(wallet), secret, previous_valid_until } }
    }),
    handler(endpoints.checkWallet.call, async ({ caller, params }) => {
      const scope = dashboardScope(caller, params.environment)
      return { status: 200, body: await checkWallet(context, scope, caller.account.currencies[0] ?? 'USD') }
    }),
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

function transactionCalls(context: WalletContext): CallHandler[] {
  const list = async (scope: Scope, query: Parameters<typeof listTransactions>[2]) =>
    answerPage(await listTransactions(context, scope, query), toMovementRecord)
  const show = async (scopes: readonly Scope[], id: string) => ({
    status: 200,
    body: toMovementRecord(await findTransaction(context, scopes, id)),
  })
  const attempts = async (scopes: readonly Scope[], id: string, query: PageQuery) =>
    answerPage(await listAttempts(context, scopes, id, query), toAttemptRecord)
  return [
    handler(endpoints.listTransactions.call, ({ caller, query }) => list(caller.scope, query)),
    handler(endpoints.dashboardListTransactions.call, ({ caller, query: { environment, ...query } }) =>
      list(dashboardScope(caller, environment ?? 'TEST'), query),
    ),
    handler(endpoints.getTransaction.call, ({ caller, params }) =>
      show([caller.scope], params.transaction_id),
    ),
    handler(endpoints.dashboardGetTransaction.call, ({ caller, params, query }) =>
      show(scopesOf(caller, query.environment), params.transaction_id),
    ),
    handler(endpoints.getTransactionAttempts.call, ({ caller, params, query }) =>
      attempts([caller.scope], params.transaction_id, query),
    ),
    handler(endpoints.dashboardGetTransactionAttempts.call, ({ caller, params, query }) =>
      attempts(scopesOf(caller, query.environment), params.transaction_id, query),
    ),
  ]
}

/** What the gateway composes answers for people from. Source: docs/contract.md, section 3. */
function compositionCalls(context: WalletContext): CallHandler[] {
  return [
    handler(roundTransactions, async ({ caller, roundId }) => {
      const max = dossierMax.movements
      const found = await context.movements.ofRound(caller.scope, roundId, max + 1)
      return { data: found.slice(0, max).map(toMovementFacts), complete: found.length <= max }
    }),
    handler(walletHealth, async ({ caller: { scope } }) => {
      const { isConfigured, isBreakerOpen, unresolved, oldest } = await wallets.readHealth(context, scope)
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
