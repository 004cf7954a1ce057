import type { AskApproval } from '@pitboss/bus/ask-approval'
import type { HandlerContext } from '@pitboss/bus/serve-calls'
import { type ActedBy, actedBy } from '@pitboss/contracts/audit'
import { type Caller, type Scope, scopeKey } from '@pitboss/contracts/caller'
import type { ApprovedBy } from '@pitboss/contracts/calls/approvals'
import { countUnfinishedRounds } from '@pitboss/contracts/calls/rounds'
import type { playerBalance } from '@pitboss/contracts/calls/wallet'
import { countedMax } from '@pitboss/contracts/objects/overview'
import { toAccountMode } from '@pitboss/contracts/primitives'
import { conflict, invalidField, ServiceError } from '@pitboss/errors/service-error'
import { checkOutboundUrlAndResolve } from '@pitboss/outbound/address-guard'
import { newSecret } from '@pitboss/runtime/new-secret'
import type { z } from 'zod'
import type { WalletContext } from '../context.ts'
import { toWalletRecord } from '../records/render-movement.ts'
import { formerOriginsAfter, originOf } from '../rules/wallet.ts'
import { readBalanceAnswer } from '../rules/wallet-answers.ts'
import type { WalletDocument, WalletSettings } from '../storage/wallet-document.ts'

const balanceTimeoutMaxMs = 5000
/** A change of a wallet is judged again this often when others change it at the same time. */
const putsMax = 10

type BalanceRequest = z.infer<typeof playerBalance.request>
type Grave = Parameters<AskApproval>[0]
type Settings = Omit<WalletSettings, 'formerOrigins'> & { readonly isSameLedger: boolean }

/**
 * Creates the scope's wallet, or changes its settings but the secret. The origin of its address changes while
 * nothing is open there, or to one of the same ledger. Another address of the LIVE wallet is a grave act.
 * @returns the new wallet's secret, or null. @throws ServiceError VALIDATION_ERROR at `url`; CONFLICT;
 * APPROVAL_NEEDED; SERVICE_UNAVAILABLE without rounds. Source: docs/contract.md, sections 3 and 6
 */
export async function putWallet(
  context: WalletContext,
  caller: Caller,
  given: Settings,
  call: HandlerContext,
) {
  const { wallets, clock, askApproval } = context
  const { scope } = caller
  const by = actedBy(caller, call)
  const put = entryOf(context, by, 'wallet.put')
  for (let tries = 0; tries < putsMax; tries++) {
    const present = await wallets.find(scope)
    const settings = await admit(context, scope, present, given)
    if (present === null) {
      const secret = newSecret('wsec')
      const created = await wallets.create(scope, { ...settings, secret, at: clock.now() }, put)
      if (created !== null) return { wallet: created, secret }
    } else {
      if (scope.environment === 'LIVE' && present.url !== given.url) {
        const { url, timeoutMs: timeout_ms, settleLosses: settle_losses, isSameLedger: same_ledger } = given
        const asked = { url, timeout_ms, settle_losses, same_ledger }
        const after = { ...toWalletRecord({ ...present, ...settings }), same_ledger }
        await askApproval(graveAct(present, by, { act: 'wallet.put', settings: asked }, after), call)
      }
      const changed = await wallets.change(present, { ...settings, updatedAt: clock.now() }, put)
      if (changed !== null) return { wallet: changed, secret: null }
    }
  }
  throw conflict('The wallet kept changing. Send the request again.')
}

/** Makes a change once that was approved for the wallet of that version. @throws as `putWallet` */
export async function putApprovedWallet(
  context: WalletContext,
  scope: Scope,
  given: Settings,
  version: number,
  by: ApprovedBy,
): Promise<'done' | 'stale'> {
  const { wallets, clock } = context
  const { approval_id: approvalId } = by.approval
  const present = await wallets.find(scope)
  if (present !== null && present.approvalId !== approvalId && present.version === version) {
    const change = { ...(await admit(context, scope, present, given)), updatedAt: clock.now(), approvalId }
    if ((await wallets.change(present, change, entryOf(context, by, 'wallet.put'))) !== null) return 'done'
  }
  if ((await wallets.find(scope))?.approvalId !== approvalId) return 'stale'
  await wallets.drop(scope)
  return 'done'
}

/**
 * Replaces the secret; the former signs beside it for `overlapS` seconds. Grave for a LIVE wallet.
 * @throws ServiceError NOT_FOUND; APPROVAL_NEEDED where the account wants a second person
 */
export async function rotateSecret(
  context: WalletContext,
  caller: Caller,
  overlapS: number,
  call: HandlerContext,
) {
  const { wallets, clock } = context
  const { scope } = caller
  let by = actedBy(caller, call)
  if (scope.environment === 'LIVE') {
    const order = { act: 'wallet.rotate-secret', overlap_s: overlapS } as const
    by = await context.askApproval(graveAct(await findWallet(context, scope), by, order), call)
  }
  const secret = newSecret('wsec')
  const rotated = entryOf(context, by, 'wallet.rotate-secret')
  const wallet = await wallets.replaceSecret(scope, { secret, overlapS, at: clock.now() }, rotated)
  if (wallet === null) throw new ServiceError('NOT_FOUND')
  return { wallet, secret }
}

/** @throws ServiceError NOT_FOUND */
export async function findWallet({ wallets }: WalletContext, scope: Scope): Promise<WalletDocument> {
  const wallet = await wallets.find(scope)
  if (wallet === null) throw new ServiceError('NOT_FOUND')
  return wallet
}

/** Whether there is a wallet, whether its breaker holds back stakes, and how it takes lost rounds. */
export async function readStatus({ wallets, breakers }: WalletContext, scope: Scope) {
  const wallet = await wallets.copy(scope)
  const breakerOpen = breakers.isOpen(scopeKey(scope))
  return { configured: wallet !== null, breakerOpen, settleLosses: wallet?.settleLosses }
}

/** Reads how the scope's wallet stands; the count stops at `countedMax`. */
export async function readHealth({ wallets, lists, breakers }: WalletContext, scope: Scope) {
  const reads = [wallets.find(scope), lists.unresolved(scope, countedMax), lists.oldestOf(scope)] as const
  const [wallet, unresolved, oldest] = await Promise.all(reads)
  const breaker_open = breakers.isOpen(scopeKey(scope))
  const first = oldest && { transaction_id: oldest.transactionId, created_at: oldest.createdAt.toISOString() }
  return { configured: wallet !== null, breaker_open, unresolved, oldest_unresolved: first }
}

/** Asks the wallet for a player's balance, for at most 5 s. Null without a usable answer. */
export async function askBalance(context: WalletContext, asked: BalanceRequest, requestId: string) {
  const { wallets, balancePlaces, client, logger } = context
  const { scope, playerId, currency, sessionId, walletGameId } = asked
  const wallet = await wallets.open(scope)
  const leave = wallet === null ? null : balancePlaces.take(wallet.key)
  if (wallet === null || leave === null) return null
  const body = JSON.stringify({ playerId, currency, sessionId, gameId: walletGameId })
  const timeoutMs = Math.min(wallet.timeoutMs, balanceTimeoutMaxMs)
  const call = { wallet, operation: 'balance', body, requestId, timeoutMs } as const
  const { exchange } = await client.call(call).finally(leave)
  const reading = readBalanceAnswer(currency, exchange)
  if (reading.kind === 'balance') return { amount: reading.amount, currency }
  const reason = reading.kind === 'refused' ? reading.walletCode : reading.reason
  logger.info({ wallet: wallet.key, request_id: requestId, reason }, 'balance.unknown')
  return null
}

function entryOf({ audit }: WalletContext, by: ActedBy, act: string) {
  return (before: WalletDocument | null, after: WalletDocument) =>
    audit.entry(by, {
      ...{ act, object: { type: 'wallet', id: toAccountMode(after.environment) } },
      ...{ before: before && toWalletRecord(before), after: toWalletRecord(after) },
    })
}

/** The settings to store. @throws ServiceError VALIDATION_ERROR at `url`; CONFLICT; SERVICE_UNAVAILABLE */
async function admit(context: WalletContext, scope: Scope, present: WalletDocument | null, asked: Settings) {
  const { isSameLedger, ...given } = asked
  const policy = { ...context.outbound, environment: toAccountMode(scope.environment) }
  const verdict = await checkOutboundUrlAndResolve(given.url, policy, scope.operatorId)
  if (!verdict.ok) throw invalidField('url', verdict.reason)
  if (given.url.includes('?')) throw invalidField('url', 'must not have a query')
  const isMove = present !== null && originOf(present.url) !== originOf(given.url)
  if (isMove && !isSameLedger) await refuseOpenMoney(context, scope)
  if (present === null) return given
  return { ...given, formerOrigins: formerOriginsAfter(present, given.url, isSameLedger) }
}

/** An act of the LIVE wallet that may need a second person; its record stays unless `after` says more. */
function graveAct(present: WalletDocument, by: ActedBy, order: Grave['order'], after: object = {}): Grave {
  const before = toWalletRecord(present)
  const object = { type: 'wallet', id: 'LIVE' }
  return { by, order, seen: String(present.version), object, before, after: { ...before, ...after } }
}

/** Refuses to leave an address where movements or rounds are open. @throws ServiceError CONFLICT */
async function refuseOpenMoney({ lists, bus }: WalletContext, scope: Scope): Promise<void> {
  const asked = bus.call(countUnfinishedRounds, { scope })
  const [movements, { count: rounds }] = await Promise.all([lists.unresolved(scope), asked])
  if (movements === 0 && rounds === 0) return
  const message =
    `Unresolved movements: ${movements}, unfinished rounds: ${rounds}. Wait until they have ended, or say ` +
    'same_ledger: true when the new address serves the same ledger.'
  throw conflict(message)
}
