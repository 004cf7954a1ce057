import { playerBalance, walletStatus } from '@pitboss/contracts/calls/wallet'
import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import type { Logger } from 'pino'
import type { WalletClient } from '../clients/wallet-client.ts'
import { readBalanceAnswer } from '../rules/wallet-answers.ts'
import type { Breakers } from '../clients/breakers.ts'
import { walletKeyOf } from '../rules/movement-keys.ts'
import type { Wallets } from '../storage/wallet-document.ts'

const balanceTimeoutMaxMs = 5000
/** A wallet that hangs must not fill this process with callers who wait for a balance. */
const balancesPerWalletMax = 64

/** Whether there is a wallet, and what it says of a player's balance. */
export function walletCalls({
  wallets,
  client,
  breakers,
  logger,
}: {
  wallets: Wallets
  client: WalletClient
  breakers: Pick<Breakers, 'isOpen'>
  logger: Logger
}): CallHandler[] {
  const balancesInFlight = new Map<string, number>()
  return [
    handler(walletStatus, async ({ scope }) => {
      const wallet = await wallets.find(scope)
      return {
        configured: wallet !== null,
        breakerOpen: breakers.isOpen(walletKeyOf(scope)),
        settleLosses: wallet?.settleLosses,
      }
    }),
    handler(playerBalance, async ({ scope, playerId, currency, sessionId, walletGameId }, { requestId }) => {
      const wallet = await wallets.open(scope)
      const inFlight = balancesInFlight.get(walletKeyOf(scope)) ?? 0
      if (wallet === null || inFlight >= balancesPerWalletMax) return { balance: null }
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
        if (reading.kind === 'balance') return { balance: { amount: reading.amount, currency } }
        const why = reading.kind === 'refused' ? reading.walletCode : reading.reason
        logger.info({ wallet: wallet.key, request_id: requestId, reason: why }, 'balance.unknown')
        return { balance: null }
      } finally {
        balancesInFlight.set(wallet.key, (balancesInFlight.get(wallet.key) ?? 1) - 1)
      }
    }),
  ]
}
