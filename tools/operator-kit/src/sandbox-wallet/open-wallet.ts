import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type Journal, openJournal } from '../shared/journal.ts'
import { adjustment, balanceOf, type Decision, decide, openingEntry } from './decide.ts'
import {
  applyEntry,
  createLedger,
  entryLine,
  type Ledger,
  ledgerEntrySchema,
  playerCodeSchema,
  refusalSchema,
} from './ledger.ts'
import type { WalletRequest } from './wallet-request.ts'

export type OpenWalletOptions = { dataDir: string; startingBalance: string; now?: () => Date }

export type Wallet = {
  readonly ledger: Ledger
  /** Decides and applies at once; the decision may be answered once `settled` resolves. */
  handle(request: WalletRequest): Decision
  setBalance(playerId: string, currency: string, balanceMinor: bigint): void
  /**
   * A refusal code for debits and balance questions of this player; null makes the player an ordinary one.
   */
  setCode(playerId: string, code: string | null): void
  /** Remembers that a debit was refused. */
  remember(transactionId: string, code: string): void
  settled(): Promise<void>
  close(): Promise<void>
}

/** A wallet whose ledger is a file of its own: restarts and kill -9 lose nothing that was answered. */
export async function openWallet({
  dataDir,
  startingBalance,
  now = () => new Date(),
}: OpenWalletOptions): Promise<Wallet> {
  const ledger = createLedger()
  const journal: Journal = await openJournal(join(dataDir, 'wallet-ledger.jsonl'), (line) => {
    const entry = ledgerEntrySchema.safeParse(line)
    const refusal = refusalSchema.safeParse(line)
    if (entry.success) applyEntry(ledger, entry.data)
    else if (refusal.success) ledger.refusals.set(refusal.data.refusedTransactionId, refusal.data.code)
    else {
      const { playerId, code } = playerCodeSchema.parse(line)
      ledger.codes.set(playerId, code)
    }
  })
  const deps = () => ({ startingBalance, at: now().toISOString(), newId: newWalletTransactionId })

  function remember(refusedTransactionId: string, code: string): void {
    if (ledger.refusals.has(refusedTransactionId)) return
    ledger.refusals.set(refusedTransactionId, code)
    journal.append({ refusedTransactionId, code })
  }

  return {
    ledger,
    remember,
    handle(request) {
      const decision = decide(ledger, request, deps())
      for (const entry of decision.entries) {
        applyEntry(ledger, entry)
        journal.append(entryLine(entry))
      }
      if (decision.isRefusedForGood === true && request.operation !== 'balance') {
        remember(request.transactionId, decision.code)
      }
      return decision
    },
    setBalance(playerId, currency, balanceMinor) {
      const { at, newId } = deps()
      const opening = openingEntry(ledger, playerId, currency, deps())
      const before = opening === null ? balanceOf(ledger, playerId, currency) : 0n
      const entry = adjustment({
        ...{ playerId, currency, at, walletTransactionId: newId() },
        ...{ effectMinor: balanceMinor - before, balanceAfterMinor: balanceMinor },
      })
      applyEntry(ledger, entry)
      journal.append(entryLine(entry))
    },
    setCode(playerId, code) {
      ledger.codes.set(playerId, code)
      journal.append({ playerId, code })
    },
    settled: () => journal.settled(),
    close: () => journal.close(),
  }
}

function newWalletTransactionId(): string {
  return `w_${randomUUID().replaceAll('-', '')}`
}
