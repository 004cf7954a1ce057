import { randomInt } from 'node:crypto'
import type { Scope } from '@pitboss/contracts/caller'
import { toAccountMode } from '@pitboss/contracts/primitives'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import { checkOutboundUrlAndResolve } from '@pitboss/outbound/address-guard'
import type { Clock } from '@pitboss/runtime/clock'
import { formerOriginsAfter, originOf } from '../rules/wallet-address.ts'
import type { PendingMovements } from '../storage/pending-movements.ts'
import type { WalletDocument, Wallets, WalletSettings } from '../storage/wallet-document.ts'

export type ChangeWallet = {
  /**
   * Creates the scope's wallet or changes its settings; a change keeps the secret. The origin of the address
   * changes only while nothing is open there, or when the new address serves the same ledger.
   * @returns the new wallet's secret, or null when there was a wallet. @throws ServiceError VALIDATION_ERROR
   * at `url`; CONFLICT; SERVICE_UNAVAILABLE when rounds cannot be asked
   */
  put(
    scope: Scope,
    settings: Omit<WalletSettings, 'formerOrigins'> & { readonly isSameLedger: boolean },
  ): Promise<{ readonly wallet: WalletDocument; readonly secret: string | null }>
  /** Replaces the secret at once, without a time in which both are good. @throws ServiceError NOT_FOUND */
  rotateSecret(scope: Scope): Promise<{ readonly wallet: WalletDocument; readonly secret: string }>
}

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const secretCharacters = 32

/** Changes wallets for the dashboard. Source: docs/contract.md, sections 3 and 11. */
export function createChangeWallet({
  wallets,
  pending,
  countUnfinishedRounds,
  allowLoopback,
  clock,
}: {
  wallets: Wallets
  pending: Pick<PendingMovements, 'unresolved'>
  countUnfinishedRounds: (scope: Scope) => Promise<number>
  allowLoopback: boolean
  clock: Clock
}): ChangeWallet {
  return {
    async put(scope, { isSameLedger, ...given }) {
      await refuseBadUrl(given.url, scope)
      const present = await wallets.find(scope)
      const isMove = present !== null && originOf(present.url) !== originOf(given.url)
      if (isMove && !isSameLedger) await refuseOpenMoney(scope)
      const settings =
        present === null
          ? given
          : { ...given, formerOrigins: formerOriginsAfter(present, given.url, isSameLedger) }
      const changed = await wallets.change(scope, settings, clock.now())
      if (changed !== null) return { wallet: changed, secret: null }
      const secret = newWalletSecret()
      const created = await wallets.create(scope, settings, secret, clock.now())
      if (created !== null) return { wallet: created, secret }
      // Another request created it meanwhile.
      const other = await wallets.change(scope, settings, clock.now())
      if (other === null) throw new Error('the wallet was refused as a duplicate and is not found')
      return { wallet: other, secret: null }
    },
    async rotateSecret(scope) {
      const secret = newWalletSecret()
      const wallet = await wallets.replaceSecret(scope, secret, clock.now())
      if (wallet === null) throw new ServiceError('NOT_FOUND')
      return { wallet, secret }
    },
  }

  /** Refuses to leave an address where movements or rounds are open. @throws ServiceError CONFLICT */
  async function refuseOpenMoney(scope: Scope): Promise<void> {
    const [movements, rounds] = await Promise.all([pending.unresolved(scope), countUnfinishedRounds(scope)])
    if (movements === 0 && rounds === 0) return
    const message =
      `Unresolved movements: ${movements}, unfinished rounds: ${rounds}. Wait until they have ended, or say ` +
      'same_ledger: true when the new address serves the same ledger.'
    throw new ServiceError('CONFLICT', { message })
  }

  async function refuseBadUrl(url: string, scope: Scope): Promise<void> {
    const policy = { environment: toAccountMode(scope.environment), allowLoopback }
    const verdict = await checkOutboundUrlAndResolve(url, policy, scope.operatorId)
    if (!verdict.ok) throw invalidField('url', verdict.reason)
    if (url.includes('?')) throw invalidField('url', 'must not have a query')
  }
}

/** `wsec_` and 32 base62 characters. The whole text is the HMAC key of wallet calls and callbacks. */
function newWalletSecret(): string {
  let text = 'wsec_'
  for (let position = 0; position < secretCharacters; position++) text += base62.charAt(randomInt(62))
  return text
}
