import { requireApproved } from '@pitboss/bus/ask-approval'
import { type CallHandler, answer, handler, handlers } from '@pitboss/bus/serve-calls'
import { doApproved } from '@pitboss/contracts/calls/approvals'
import { roundTransactions, walletHealth } from '@pitboss/contracts/calls/dashboard'
import * as calls from '@pitboss/contracts/calls/wallet'
import * as endpoints from '@pitboss/contracts/endpoints/wallet'
import { dossierMax } from '@pitboss/contracts/objects/dossier'
import type { walletPutSchema } from '@pitboss/contracts/objects/wallet'
import { answerPage } from '@pitboss/storage/read-page'
import type { z } from 'zod'
import { checkWallet } from '../actions/check-wallet.ts'
import * as wallets from '../actions/operator-wallets.ts'
import { findTransaction, listAttempts, listTransactions } from '../actions/read-movements.ts'
import { readCallSeries } from '../actions/read-call-series.ts'
import { handleCallback } from '../actions/handle-callback.ts'
import type { WalletContext } from '../context.ts'
import * as records from '../records/render-movement.ts'

/** Settings and reads of accounts, and callbacks. Source: docs/contract.md, sections 3, 5, 6 and 11. */
export function gatewayCalls(context: WalletContext): CallHandler[] {
  return [
    ...walletCalls(context),
    ...transactionCalls(context),
    handler(calls.walletCallback, async (callback, { requestId }) => {
      await handleCallback(context, callback, requestId)
      return null
    }),
    // What the gateway composes answers for people from.
    handler(roundTransactions, async ({ caller, roundId }) => {
      const max = dossierMax.movements
      const found = await context.movements.ofRound(caller.scope, roundId, max + 1)
      return { data: found.slice(0, max).map(records.toMovementFacts), complete: found.length <= max }
    }),
    handler(walletHealth, ({ caller }) => wallets.readHealth(context, caller.scope)),
  ]
}

function walletCalls(context: WalletContext): CallHandler[] {
  return [
    handler(calls.walletStatus, ({ scope }) => wallets.readStatus(context, scope)),
    handler(calls.playerBalance, async (request, { requestId }) => ({
      balance: await wallets.askBalance(context, request, requestId),
    })),
    handler(endpoints.getWallet.call, async ({ caller }) =>
      answer(records.toWalletRecord(await wallets.findWallet(context, caller.scope))),
    ),
    handler(endpoints.getWalletSeries.call, async ({ caller, query }) =>
      answer(await readCallSeries(context, caller.scope, query)),
    ),
    handler(endpoints.putWallet.call, async ({ caller, body }, call) => {
      const { wallet, secret } = await wallets.putWallet(context, caller, settingsOf(body), call)
      return secret === null
        ? answer(records.toWalletRecord(wallet))
        : answer({ ...records.toWalletRecord(wallet), secret }, 201)
    }),
    handler(doApproved.wallet, async ({ order, seen, by }, call) => {
      await requireApproved({ order, seen, by }, { bus: context.bus, context: call })
      const scope = { operatorId: by.operator_id ?? '', environment: 'LIVE' } as const
      const settings = settingsOf(order.settings)
      return { result: await wallets.putApprovedWallet(context, scope, settings, Number(seen), by) }
    }),
    handler(endpoints.rotateWalletSecret.call, async ({ caller, body }, call) => {
      const { wallet, secret } = await wallets.rotateSecret(context, caller, body.overlap_s, call)
      const previous_valid_until = wallet.formerSecret?.validUntil.toISOString() ?? null
      return answer({ ...records.toWalletRecord(wallet), secret, previous_valid_until })
    }),
    handler(endpoints.checkWallet.call, async ({ caller: { scope, account } }) =>
      answer(await checkWallet(context, scope, account.currencies[0] ?? 'USD')),
    ),
  ]
}

function settingsOf(body: z.output<typeof walletPutSchema>) {
  const { url, timeout_ms: timeoutMs, settle_losses: settleLosses, same_ledger: isSameLedger = false } = body
  return { url, timeoutMs, settleLosses, isSameLedger }
}

function transactionCalls(context: WalletContext): CallHandler[] {
  return [
    ...handlers(
      [endpoints.listTransactions.call, endpoints.dashboardListTransactions.call],
      async ({ caller, query }) =>
        answerPage(await listTransactions(context, caller.scope, query), records.toMovementRecord),
    ),
    ...handlers(
      [endpoints.getTransaction.call, endpoints.dashboardGetTransaction.call],
      async ({ caller, params }) =>
        answer(records.toMovementRecord(await findTransaction(context, caller, params.transaction_id))),
    ),
    ...handlers(
      [endpoints.getTransactionAttempts.call, endpoints.dashboardGetTransactionAttempts.call],
      async ({ caller, params, query }) =>
        answerPage(await listAttempts(context, caller, params, query), records.toAttemptRecord),
    ),
  ]
}
