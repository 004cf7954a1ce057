import type { AskApproval } from '@pitboss/bus/ask-approval'
import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { ActedBy } from '@pitboss/contracts/audit'
import type { Scope } from '@pitboss/contracts/caller'
import type { ApprovedBy } from '@pitboss/contracts/calls/approvals'
import type { playerBalance } from '@pitboss/contracts/calls/wallet'
import { countedMax } from '@pitboss/contracts/objects/overview'
import { toAccountMode } from '@pitboss/contracts/primitives'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import { checkOutboundUrlAndResolve, type OutboundSettings } from '@pitboss/outbound/address-guard'
import type { AuditOutbox } from '@pitboss/storage/audit-outbox'
import type { Clock } from '@pitboss/runtime/clock'
import { randomInt } from 'node:crypto'
import type { Logger } from 'pino'
import type { z } from 'zod'
import type { Breakers } from '../clients/breakers.ts'
import type { WalletClient } from '../clients/wallet-client.ts'
import { toWalletRecord } from '../records/render-wallet.ts'
import { walletKeyOf } from '../rules/movement-keys.ts'
import { formerOriginsAfter, originOf } from '../rules/wallet-address.ts'
import { readBalanceAnswer } from '../rules/wallet-answers.ts'
import type { PendingMovements } from '../storage/pending-movements.ts'
import type { WalletDocument, Wallets, WalletSettings } from '../storage/wallet-document.ts'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const secretCharacters = 32
const balanceTimeoutMaxMs = 5000
/**
 * Bounds the callers who wait for the balance of one wallet, so that a wallet that hangs does not fill the
 * process.
 */
const balancesPerWalletMax = 64
/** A change of a wallet is judged anew this often when others change it at the same time. */
const putsMax = 10

export type OperatorWallets = ReturnType<typeof createOperatorWallets>
type Settings = Omit<WalletSettings, 'formerOrigins'> & { readonly isSameLedger: boolean }

/**
 * The wallets of operators, for the dashboard and for rounds: settings, secrets, state and balances. Source:
 * docs/contract.md, sections 3, 6 and 11.
 */
export function createOperatorWallets({
  wallets,
  pending,
  client,
  breakers,
  countUnfinishedRounds,
  audit,
  askApproval,
  outbound,
  clock,
  logger,
}: {
  wallets: Wallets
  pending: PendingMovements
  client: WalletClient
  breakers: Breakers
  countUnfinishedRounds: (scope: Scope) => Promise<number>
  audit: Pick<AuditOutbox, 'entry'>
  askApproval: AskApproval
  outbound: OutboundSettings
  clock: Clock
  logger: Logger
}) {
  const balancesInFlight = new Map<string, number>()
  return {
    /**
     * Creates the scope's wallet or changes its settings; a change keeps the secret. The origin of the
     * address changes only while nothing is open there, or when the new address serves the same ledger.
     * Another address of the LIVE wallet is a grave act.
     * @returns the new wallet's secret, or null when there was a wallet. @throws ServiceError
     * VALIDATION_ERROR at `url`; CONFLICT; APPROVAL_NEEDED where the account wants a second person;
     * SERVICE_UNAVAILABLE when rounds cannot be asked
     */
    async put(scope: Scope, given: Settings, by: ActedBy, context: HandlerContext) {
      const put = entryOf(by, 'wallet.put')
      for (let tries = 0; tries < putsMax; tries++) {
        const present = await wallets.find(scope)
        const settings = await admit(scope, present, given)
        if (present === null) {
          const secret = newWalletSecret()
          const created = await wallets.create(scope, settings, secret, clock.now(), put)
          if (created !== null) return { wallet: created, secret }
        } else {
          if (scope.environment === 'LIVE' && present.url !== given.url)
            await askApproval(graveMove(present, settings, given, by), context)
          const changed = await wallets.change(scope, settings, present.version, clock.now(), put)
          if (changed !== null) return { wallet: changed, secret: null }
        }
      }
      throw new ServiceError('CONFLICT', { message: 'The wallet kept changing. Send the request again.' })
    },
    /** Makes a change once that was approved for the wallet of that version. @throws as `put` */
    async putApproved(
      scope: Scope,
      given: Settings,
      version: number,
      by: ApprovedBy,
    ): Promise<'done' | 'stale'> {
      const { approval_id: approvalId } = by.approval
      const present = await wallets.find(scope)
      const isDone = present?.approvalId === approvalId
      if (!isDone && present?.version !== version) return 'stale'
      const settings = isDone ? present : await admit(scope, present, given)
      const put = entryOf(by, 'wallet.put')
      return wallets.changeSeen(scope, settings, { version, approvalId }, clock.now(), put)
    },
    /**
     * Replaces the secret; the former one signs beside it for `overlapS` seconds, and one before that ends.
     * To replace that of the LIVE wallet is a grave act.
     * @throws ServiceError NOT_FOUND; APPROVAL_NEEDED where the account wants a second person
     */
    async rotateSecret(scope: Scope, overlapS: number, asker: ActedBy, context: HandlerContext) {
      const by = scope.environment === 'LIVE' ? await askToRotate(scope, overlapS, asker, context) : asker
      const secret = newWalletSecret()
      const now = clock.now()
      const rotated = entryOf(by, 'wallet.rotate-secret')
      const wallet = await wallets.replaceSecret(scope, { secret, overlapS }, now, rotated)
      if (wallet === null) throw new ServiceError('NOT_FOUND')
      return { wallet, secret }
    },
    /** @throws ServiceError NOT_FOUND */
    async find(scope: Scope) {
      const wallet = await wallets.find(scope)
      if (wallet === null) throw new ServiceError('NOT_FOUND')
      return wallet
    },
    /**
     * Tells whether there is a wallet, whether its breaker holds back stakes, and how it takes lost rounds.
     */
    async status(scope: Scope) {
      const wallet = await wallets.copy(scope)
      return {
        configured: wallet !== null,
        breakerOpen: breakers.isOpen(walletKeyOf(scope)),
        settleLosses: wallet?.settleLosses,
      }
    },
    /** How the scope's wallet stands; the count stops at `countedMax`. */
    async health(scope: Scope) {
      const [wallet, unresolved, oldest] = await Promise.all([
        wallets.find(scope),
        pending.unresolved(scope, countedMax),
        pending.oldestOf(scope),
      ])
      const isBreakerOpen = breakers.isOpen(walletKeyOf(scope))
      return { isConfigured: wallet !== null, isBreakerOpen, unresolved, oldest }
    },
    /** Asks the wallet for a player's balance, for at most 5 s. Null without a usable answer. */
    async balance(request: z.infer<typeof playerBalance.request>, requestId: string) {
      const { scope, playerId, currency, sessionId, walletGameId } = request
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

  function entryOf(by: ActedBy, act: string) {
    return (before: WalletDocument | null, after: WalletDocument) =>
      audit.entry(by, {
        act,
        object: { type: 'wallet', id: toAccountMode(after.environment) },
        before: before === null ? null : toWalletRecord(before),
        after: toWalletRecord(after),
      })
  }

  /** The settings to store. @throws ServiceError VALIDATION_ERROR at `url`; CONFLICT; SERVICE_UNAVAILABLE */
  async function admit(scope: Scope, present: WalletDocument | null, { isSameLedger, ...given }: Settings) {
    await refuseBadUrl(given.url, scope)
    const isMove = present !== null && originOf(present.url) !== originOf(given.url)
    if (isMove && !isSameLedger) await refuseOpenMoney(scope)
    if (present === null) return given
    return { ...given, formerOrigins: formerOriginsAfter(present, given.url, isSameLedger) }
  }

  async function askToRotate(
    scope: Scope,
    overlap_s: number,
    by: ActedBy,
    context: HandlerContext,
  ): Promise<ActedBy> {
    const present = await wallets.find(scope)
    if (present === null) throw new ServiceError('NOT_FOUND')
    const shown = toWalletRecord(present)
    const grave = {
      ...{ by, order: { act: 'wallet.rotate-secret', overlap_s } as const, seen: String(present.version) },
      ...{ object: { type: 'wallet', id: 'LIVE' }, before: shown, after: shown },
    }
    return askApproval(grave, context)
  }

  /** What a second person is shown of another address of the LIVE wallet. */
  function graveMove(
    present: WalletDocument,
    settings: WalletSettings,
    { url, timeoutMs: timeout_ms, settleLosses: settle_losses, isSameLedger: same_ledger }: Settings,
    by: ActedBy,
  ): Parameters<AskApproval>[0] {
    const asked = { url, timeout_ms, settle_losses, same_ledger }
    return {
      ...{ by, order: { act: 'wallet.put', settings: asked }, seen: String(present.version) },
      object: { type: 'wallet', id: toAccountMode(present.environment) },
      before: toWalletRecord(present),
      after: { ...toWalletRecord({ ...present, ...settings }), same_ledger },
    }
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
    const policy = { ...outbound, environment: toAccountMode(scope.environment) }
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
