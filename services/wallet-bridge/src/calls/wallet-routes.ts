import { randomInt } from 'node:crypto'
import type { Caller, Scope } from '@pitboss/contracts/caller'
import { checkWallet, getWallet, putWallet, rotateWalletSecret } from '@pitboss/contracts/endpoints/wallet'
import { toHappening, toSetup } from '@pitboss/contracts/environments'
import type { SetupEnvironment } from '@pitboss/contracts/primitives'
import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import { checkOutboundUrlAndResolve } from '@pitboss/outbound/address-guard'
import type { Clock } from '@pitboss/runtime/clock'
import type { CheckWallet } from '../actions/check-wallet.ts'
import type { WalletDocument, Wallets } from '../storage/wallet-document.ts'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const secretCharacters = 32

/** `wsec_` and 32 base62 characters; the HMAC key of wallet calls and callbacks is the whole text. */
function newWalletSecret(): string {
  let text = 'wsec_'
  for (let position = 0; position < secretCharacters; position++) text += base62.charAt(randomInt(62))
  return text
}

/** The dashboard's wallet routes. Source: contract sections 3 and 11. */
export function walletRoutes({
  wallets,
  check,
  allowLoopback,
  clock,
}: {
  wallets: Wallets
  check: CheckWallet
  allowLoopback: boolean
  clock: Clock
}): CallHandler[] {
  return [
    handler(getWallet.call, async ({ caller, params }) => {
      const wallet = await wallets.find(scopeFor(caller, params.environment))
      if (wallet === null) throw new ServiceError('NOT_FOUND')
      return { status: 200, body: toRecord(wallet) }
    }),
    handler(putWallet.call, async ({ caller, params, body }) => {
      const scope = scopeFor(caller, params.environment)
      await refuseBadUrl(body.url, params.environment)
      const settings = {
        url: body.url,
        timeoutMs: body.timeout_ms,
        settleLosses: body.settle_losses,
      }
      const changed = await wallets.change(scope, settings, clock.now())
      if (changed !== null) return { status: 200, body: toRecord(changed) }
      const secret = newWalletSecret()
      const created = await wallets.create(scope, settings, secret, clock.now())
      if (created !== null) return { status: 201, body: { ...toRecord(created), secret } }
      const other = await wallets.change(scope, settings, clock.now())
      if (other === null) throw new Error('the wallet is there and is not')
      return { status: 200, body: toRecord(other) }
    }),
    handler(rotateWalletSecret.call, async ({ caller, params }) => {
      const secret = newWalletSecret()
      const wallet = await wallets.replaceSecret(scopeFor(caller, params.environment), secret, clock.now())
      if (wallet === null) throw new ServiceError('NOT_FOUND')
      return { status: 200, body: { ...toRecord(wallet), secret } }
    }),
    handler(checkWallet.call, async ({ caller, params }) => {
      const wallet = await wallets.open(scopeFor(caller, params.environment))
      if (wallet === null) throw new ServiceError('NOT_FOUND')
      return { status: 200, body: await check(wallet, caller.account.currencies[0] ?? 'USD') }
    }),
  ]

  async function refuseBadUrl(url: string, environment: SetupEnvironment): Promise<void> {
    const verdict = await checkOutboundUrlAndResolve(url, { environment, allowLoopback })
    if (!verdict.ok) throw invalidField('url', verdict.reason)
    if (url.includes('?')) throw invalidField('url', 'must not have a query')
  }
}

function scopeFor(caller: Caller, environment: SetupEnvironment): Scope {
  return { operatorId: caller.scope.operatorId, environment: toHappening(environment) }
}

function toRecord(wallet: WalletDocument) {
  return {
    environment: toSetup(wallet.environment),
    url: wallet.url,
    timeout_ms: wallet.timeoutMs,
    settle_losses: wallet.settleLosses,
    created_at: wallet.createdAt.toISOString(),
    updated_at: wallet.updatedAt.toISOString(),
  }
}
