import { z } from 'zod'

const minor = z
  .string()
  .regex(/^-?[0-9]+$/)
  .transform(BigInt)

/** One line of the wallet's durable ledger. Amounts are minor units. */
export const ledgerEntrySchema = z.object({
  at: z.string(),
  operation: z.enum(['debit', 'credit', 'rollback', 'adjustment']),
  type: z.string(),
  transactionId: z.string(),
  referenceTransactionId: z.string().nullable(),
  reference: z.string(),
  roundId: z.string(),
  gameId: z.string(),
  playerId: z.string(),
  currency: z.string(),
  amountMinor: minor,
  /** Change that the entry made to the balance. */
  effectMinor: minor,
  balanceAfterMinor: minor,
  walletTransactionId: z.string(),
  /** A rollback whose original was never seen: the original is refused when it comes late. */
  tombstone: z.boolean(),
})
export type LedgerEntry = z.infer<typeof ledgerEntrySchema>

/** A player's standing refusal set by hand; null lifts it. */
export const playerCodeSchema = z.object({ playerId: z.string(), code: z.string().nullable() })

/** A debit that was refused: its id stays refused, whatever changes. */
export const refusalSchema = z.object({ refusedTransactionId: z.string(), code: z.string() })

/**
 * State of a wallet. Changed only by `applyEntry`, so that a replay of its file gives the same state again.
 */
export type Ledger = {
  readonly entries: LedgerEntry[]
  readonly byTransactionId: Map<string, LedgerEntry>
  /**
   * The rollback of a transaction, by the id of the transaction rolled back, whether that was ever seen or
   * not.
   */
  readonly rollbackOf: Map<string, LedgerEntry>
  /** Balances in minor units: player, then currency. */
  readonly balances: Map<string, Map<string, bigint>>
  /** Refusal codes set by hand. */
  readonly codes: Map<string, string | null>
  /** The codes of refused debits, by transaction id. */
  readonly refusals: Map<string, string>
}

export function createLedger(): Ledger {
  return {
    entries: [],
    byTransactionId: new Map(),
    rollbackOf: new Map(),
    balances: new Map(),
    codes: new Map(),
    refusals: new Map(),
  }
}

/** Adds an entry to the state. The entry has been decided before; nothing is judged here. */
export function applyEntry(ledger: Ledger, entry: LedgerEntry): void {
  ledger.entries.push(entry)
  if (entry.operation !== 'adjustment') ledger.byTransactionId.set(entry.transactionId, entry)
  if (entry.operation === 'rollback' && entry.referenceTransactionId !== null) {
    ledger.rollbackOf.set(entry.referenceTransactionId, entry)
  }
  const currencies = ledger.balances.get(entry.playerId) ?? new Map<string, bigint>()
  currencies.set(entry.currency, entry.balanceAfterMinor)
  ledger.balances.set(entry.playerId, currencies)
}

/** A ledger entry as a journal line. */
export function entryLine(entry: LedgerEntry): object {
  return {
    ...entry,
    amountMinor: entry.amountMinor.toString(),
    effectMinor: entry.effectMinor.toString(),
    balanceAfterMinor: entry.balanceAfterMinor.toString(),
  }
}
