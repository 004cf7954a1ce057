import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { playerBalance, walletStatus } from '@pitboss/contracts/calls/wallet'
import type { Caller, Scope } from '@pitboss/contracts/caller'
import { checkWallet, getWallet, putWallet, rotateWalletSecret } from '@pitboss/contracts/endpoints/wallet'
import { toEventEnvironment, toAccountMode, type AccountMode } from '@pitboss/contracts/primitives'
import type { ChangeWallet } from '../actions/change-wallet.ts'
import type { CheckWallet } from '../actions/check-wallet.ts'
import type { ReadWallets } from '../actions/read-wallets.ts'

/** The wallet calls of rounds and of the dashboard. Source: docs/contract.md, sections 3 and 11. */
export function walletCalls({
  read,
  change,
  check,
}: {
  read: ReadWallets
  change: ChangeWallet
  check: CheckWallet
}): CallHandler[] {
  return [
    handler(walletStatus, ({ scope }) => read.status(scope)),
    handler(playerBalance, async (request, { requestId }) => ({
      balance: await read.balance(request, requestId),
    })),
    handler(getWallet.call, async ({ caller, params }) => ({
      status: 200,
      body: toWalletRecord(await read.find(scopeFor(caller, params.environment))),
    })),
    handler(putWallet.call, async ({ caller, params, body }) => {
      const { wallet, secret } = await change.put(scopeFor(caller, params.environment), {
        url: body.url,
        timeoutMs: body.timeout_ms,
        settleLosses: body.settle_losses,
        isSameLedger: body.same_ledger ?? false,
      })
      if (secret === null) return { status: 200, body: toWalletRecord(wallet) }
      return { status: 201, body: { ...toWalletRecord(wallet), secret } }
    }),
    handler(rotateWalletSecret.call, async ({ caller, params }) => {
      const { wallet, secret } = await change.rotateSecret(scopeFor(caller, params.environment))
      return { status: 200, body: { ...toWalletRecord(wallet), secret } }
    }),
    handler(checkWallet.call, async ({ caller, params }) => ({
      status: 200,
      body: await check(scopeFor(caller, params.environment), caller.account.currencies[0] ?? 'USD'),
    })),
  ]
}

function scopeFor(caller: Caller, environment: AccountMode): Scope {
  return { operatorId: caller.scope.operatorId, environment: toEventEnvironment(environment) }
}

/** The dashboard's record of a wallet, without its secret. Source: docs/contract.md, section 3. */
function toWalletRecord(wallet: Awaited<ReturnType<ReadWallets['find']>>) {
  return {
    environment: toAccountMode(wallet.environment),
    url: wallet.url,
    timeout_ms: wallet.timeoutMs,
    settle_losses: wallet.settleLosses,
    created_at: wallet.createdAt.toISOString(),
    updated_at: wallet.updatedAt.toISOString(),
  }
}
