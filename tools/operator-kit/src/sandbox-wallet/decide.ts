import { currencyDigits } from '@pitboss/money/currencies'
import type { Ledger, LedgerEntry } from './ledger.ts'
import type { MovementRequest, WalletRequest } from './wallet-request.ts'

export type Decision = {
  /** `OK`, `DUPLICATE` or a refusal code of docs/contract.md, section 6. */
  readonly code: string
  /** The balance to answer with in minor units; null when the player has none to show. */
  readonly balanceMinor: bigint | null
  readonly walletTransactionId: string | null
  /** To be applied and written before the answer goes out; empty when nothing changes. */
  readonly entries: readonly LedgerEntry[]
  /** A refused debit: the wallet has to remember the code under its id. */
  readonly isRefusedForGood?: boolean
}

export type DecideDeps = {
  readonly startingBalance: string
  readonly at: string
  readonly newId: () => string
}

/**
 * Decides as a wallet that keeps the contract: its answer, and the entry that it writes. Pure: ledger and
 * request in, decision out. A refused debit stays refused, an applied movement is answered with DUPLICATE for
 * ever, and a transaction whose rollback came first is never applied. Credits and rollbacks reach blocked
 * players too: it is their money.
 */
export function decide(ledger: Ledger, request: WalletRequest, deps: DecideDeps): Decision {
  const opening = openingEntry(ledger, request.playerId, request.currency, deps)
  const balance = opening?.balanceAfterMinor ?? balanceOf(ledger, request.playerId, request.currency)
  const refuse = (code: string): Decision => ({
    code,
    balanceMinor: balance,
    walletTransactionId: null,
    entries: [],
  })
  const accept = (entry: LedgerEntry, code = 'OK'): Decision => ({
    code,
    balanceMinor: entry.balanceAfterMinor,
    walletTransactionId: entry.walletTransactionId,
    entries: opening === null ? [entry] : [opening, entry],
  })
  const refusal = standingRefusal(ledger, request)

  if (request.operation === 'balance') {
    if (refusal !== null) return { ...refuse(refusal), balanceMinor: null }
    return { ...refuse('OK'), entries: opening === null ? [] : [opening] }
  }
  const known = ledger.byTransactionId.get(request.transactionId)
  if (known !== undefined && !sameMovement(known, request)) return refuse('TRANSACTION_CONFLICT')
  if (request.operation === 'rollback')
    return decideRollback(ledger, request, { known, balance, refuse, accept, deps })
  if (ledger.rollbackOf.has(request.transactionId)) return refuse('TRANSACTION_ROLLED_BACK')
  if (known !== undefined) return { ...refuse('DUPLICATE'), walletTransactionId: known.walletTransactionId }
  const isPoor = request.operation === 'debit' && balance < request.amountMinor
  const code = ledger.refusals.get(request.transactionId) ?? refusal ?? (isPoor ? 'INSUFFICIENT_FUNDS' : null)
  if (code !== null) return { ...refuse(code), isRefusedForGood: true }
  const effect = request.operation === 'debit' ? -request.amountMinor : request.amountMinor
  return accept(newEntry(request, balance, effect, deps))
}

type RollbackParts = {
  known: LedgerEntry | undefined
  balance: bigint
  refuse: (code: string) => Decision
  accept: (entry: LedgerEntry, code?: string) => Decision
  deps: DecideDeps
}

function decideRollback(ledger: Ledger, request: MovementRequest, parts: RollbackParts): Decision {
  const { known, balance, refuse, accept, deps } = parts
  const originalId = request.referenceTransactionId ?? ''
  const earlier = known ?? ledger.rollbackOf.get(originalId)
  if (earlier !== undefined) {
    const code = earlier.tombstone ? 'TRANSACTION_NOT_FOUND' : 'DUPLICATE'
    return { ...refuse(code), walletTransactionId: earlier.walletTransactionId }
  }
  const original = ledger.byTransactionId.get(originalId)
  if (original === undefined) {
    const tombstone = { ...newEntry(request, balance, 0n, deps), tombstone: true }
    return accept(tombstone, 'TRANSACTION_NOT_FOUND')
  }
  if (original.operation === 'rollback') return refuse('TRANSACTION_CONFLICT')
  const sameAccount = original.playerId === request.playerId && original.currency === request.currency
  if (!sameAccount || original.amountMinor !== request.amountMinor) return refuse('TRANSACTION_CONFLICT')
  return accept(newEntry(request, balance, -original.effectMinor, deps))
}

/** The entry that gives a new account its starting balance, or null when the account is open already. */
export function openingEntry(
  ledger: Ledger,
  playerId: string,
  currency: string,
  { startingBalance, at, newId }: DecideDeps,
): LedgerEntry | null {
  if (ledger.balances.get(playerId)?.has(currency) === true) return null
  const minor = startingMinor(playerRule(playerId)?.startingBalance ?? startingBalance, currency)
  return adjustment({
    playerId,
    currency,
    effectMinor: minor,
    balanceAfterMinor: minor,
    at,
    walletTransactionId: newId(),
  })
}

/** An entry that moves a balance without a call of the service. */
export function adjustment(
  part: Pick<
    LedgerEntry,
    'playerId' | 'currency' | 'effectMinor' | 'balanceAfterMinor' | 'at' | 'walletTransactionId'
  >,
): LedgerEntry {
  const { effectMinor } = part
  return {
    ...{
      operation: 'adjustment',
      type: 'ADJUSTMENT',
      referenceTransactionId: null,
      reference: '',
      tombstone: false,
    },
    ...{ roundId: '', gameId: '', transactionId: part.walletTransactionId },
    amountMinor: effectMinor < 0n ? -effectMinor : effectMinor,
    ...part,
  }
}

export function balanceOf(ledger: Ledger, playerId: string, currency: string): bigint {
  return ledger.balances.get(playerId)?.get(currency) ?? 0n
}

function standingRefusal(ledger: Ledger, { operation, playerId }: WalletRequest): string | null {
  if (operation === 'credit' || operation === 'rollback') return null
  const byHand = ledger.codes.get(playerId)
  if (byHand !== undefined) return byHand
  const rule = playerRule(playerId)
  return (operation === 'debit' ? rule?.debitCode : rule?.balanceCode) ?? null
}

function sameMovement(entry: LedgerEntry, request: MovementRequest): boolean {
  return (
    entry.operation === request.operation &&
    entry.type === request.type &&
    entry.referenceTransactionId === request.referenceTransactionId &&
    entry.reference === request.reference &&
    entry.roundId === request.roundId &&
    entry.gameId === request.gameId &&
    entry.playerId === request.playerId &&
    entry.currency === request.currency &&
    entry.amountMinor === request.amountMinor
  )
}

function newEntry(
  request: MovementRequest,
  balance: bigint,
  effectMinor: bigint,
  { at, newId }: DecideDeps,
): LedgerEntry {
  return {
    ...request,
    at,
    effectMinor,
    balanceAfterMinor: balance + effectMinor,
    walletTransactionId: newId(),
    tombstone: false,
  }
}

function startingMinor(amount: string, currency: string): bigint {
  const digits = currencyDigits(currency) ?? 0
  const [whole = '0', decimals = ''] = amount.split('.')
  return BigInt(whole + decimals.slice(0, digits).padEnd(digits, '0'))
}

type PlayerRule = {
  readonly meaning: string
  /** Refusal of a new debit. */
  readonly debitCode?: string
  /** Refusal of a balance question. */
  readonly balanceCode?: string
  readonly startingBalance?: string
}

const blocked = (code: string, meaning: string): PlayerRule => ({
  meaning,
  debitCode: code,
  balanceCode: code,
})

/**
 * Player ids which behave in a certain way: the name itself, or the name followed by "-" or "_" and anything.
 */
const playerNames: Readonly<Record<string, PlayerRule>> = {
  blocked: blocked('PLAYER_BLOCKED', 'is blocked'),
  unknown: blocked('PLAYER_NOT_FOUND', 'does not exist'),
  excluded: blocked('SELF_EXCLUDED', 'has excluded themself from play'),
  kyc: blocked('KYC_REQUIRED', 'has to prove who they are first'),
  limited: { meaning: 'has reached a limit of their own', debitCode: 'LIMIT_EXCEEDED' },
  mismatch: { meaning: 'has an account in another currency', debitCode: 'CURRENCY_MISMATCH' },
  broke: { meaning: 'starts with nothing', startingBalance: '0' },
  rich: { meaning: 'starts with 1000000000', startingBalance: '1000000000' },
}

/** The rule that a player's name asks for, or null for an ordinary player. */
export function playerRule(playerId: string): PlayerRule | null {
  const [name = ''] = playerId.split(/[-_]/, 1)
  return Object.hasOwn(playerNames, name) ? (playerNames[name] ?? null) : null
}
