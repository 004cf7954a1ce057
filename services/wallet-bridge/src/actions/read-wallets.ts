import type { Scope } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Logger } from 'pino'
import type { Breakers } from '../clients/breakers.ts'
import type { WalletClient } from '../clients/wallet-client.ts'
import { walletKeyOf } from '../rules/movement-keys.ts'
import { readBalanceAnswer } from '../rules/wallet-answers.ts'
import type { WalletDocument, Wallets } from '../storage/wallet-document.ts'

type BalanceRequest = {
  readonly scope: Scope
  readonly playerId: string
  readonly currency: string
  readonly sessionId: string
  readonly walletGameId: string
}

export type ReadWallets = {
  /** @throws ServiceError NOT_FOUND */
  find(scope: Scope): Promise<WalletDocument>
  /** Tells whether there is a wallet, whether its breaker holds back stakes, and how it takes lost rounds. */
  status(scope: Scope): Promise<{
    configured: boolean
    breakerOpen: boolean
    settleLosses: WalletDocument['settleLosses'] | undefined
  }>
  /** Asks the wallet for a player's balance, for at most 5 s. Null without a usable answer. */
  balance(
    request: BalanceRequest,
    requestId: string,
  ): Promise<{ readonly amount: string; readonly currency: string } | null>
}

const balanceTimeoutMaxMs = 5000
/**
 * Bounds the callers who wait for the balance of one wallet, so that a wallet that hangs does not fill the
 * process.
 */
const balancesPerWalletMax = 64

/** Reads wallets for rounds and the dashboard, and asks them for balances. */
export function createReadWallets({
  wallets,
  client,
  breakers,
  logger,
}: {
  wallets: Wallets
  client: WalletClient
  breakers: Pick<Breakers, 'isOpen'>
  logger: Logger
}): ReadWallets {
  const balancesInFlight = new Map<string, number>()
  return {
    async find(scope) {
      const wallet = await wallets.find(scope)
      if (wallet === null) throw new ServiceError('NOT_FOUND')
      return wallet
    },
    async status(scope) {
      const wallet = await wallets.find(scope)
      return {
        configured: wallet !== null,
        breakerOpen: breakers.isOpen(walletKeyOf(scope)),
        settleLosses: wallet?.settleLosses,
      }
    },
    async balance({ scope, playerId, currency, sessionId, walletGameId }, requestId) {
      const wallet = await wallets.open(scope)
      const inFlight = balancesInFlight.get(walletKeyOf(scope)) ?? 0
      if (wallet === null || inFlight >= balancesPerWalletMax) return null
      balancesInFlight.set(wallet.key, inFlight + 1)
      try {
        const { exchange } = await client.call({
          wallet,
          operation: 'balance',
          body: JSON.stringify({ playerId, currency, sessionId, gameId: walletGameId }),
          requestId,
          timeoutMs: Math.min(wallet.timeoutMs, balanceTimeoutMaxMs),
        })
        const reading = readBalanceAnswer(currency, exchange)
        if (reading.kind === 'balance') return { amount: reading.amount, currency }
        const why = reading.kind === 'refused' ? reading.walletCode : reading.reason
        logger.info({ wallet: wallet.key, request_id: requestId, reason: why }, 'balance.unknown')
        return null
      } finally {
        balancesInFlight.set(wallet.key, (balancesInFlight.get(wallet.key) ?? 1) - 1)
      }
    },
  }
}
