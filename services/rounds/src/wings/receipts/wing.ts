import { createSecretBox } from '@pitboss/storage/stored-secrets'
import type { Wing } from '../../wing.ts'
import { receiptCalls } from './calls/receipts.ts'
import { createReceiptNote } from './metrics.ts'
import { createReceiptsStore, receiptPlace, receiptPurpose } from './storage/receipts-store.ts'

/** What pages showed of settled rounds. Source: docs/contract.md, section 4, "Receipts". */
export const receipts: Wing = {
  seals: [receiptPlace],
  open(core, { db, keyring, registry }) {
    const store = createReceiptsStore({ db, secretBox: createSecretBox(keyring, receiptPurpose) })
    const noteReceipt = createReceiptNote(registry, core.logger)
    return { calls: receiptCalls({ ...core, receipts: store, noteReceipt }) }
  },
}
