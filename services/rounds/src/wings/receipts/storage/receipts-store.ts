import { type Scope, scopeKey } from '@pitboss/contracts/caller'
import { type SealedReceipt, sealedReceiptSchema } from '@pitboss/contracts/objects/receipt'
import { insertedFirst } from '@pitboss/storage/create-once'
import { sealedFields } from '@pitboss/storage/rewrite-seals'
import type { SecretBox } from '@pitboss/storage/stored-secrets'
import type { Db } from 'mongodb'

type ReceiptDocument = { _id: string; scope: string; receivedAt: Date; sealed: string }

/** Receipts of earlier releases lack `reason`. */
const storedSchema = sealedReceiptSchema.extend({ reason: sealedReceiptSchema.shape.reason.default(null) })

export const receiptPurpose = 'receipts'

export type ReceiptsStore = ReturnType<typeof createReceiptsStore>

export function receiptBinding({ _id, scope }: Pick<ReceiptDocument, '_id' | 'scope'>): string {
  return `receipt/${scope}/${_id}`
}

export const receiptPlace = sealedFields({
  ...{ collection: 'receipts', purpose: receiptPurpose, paths: ['sealed'] },
  aadOf: ({ _id, scope }) => receiptBinding({ _id: String(_id), scope: String(scope) }),
})

/** A round has one receipt at most: the first. */
export function createReceiptsStore({ db, secretBox }: { db: Db; secretBox: SecretBox }) {
  const receipts = db.collection<ReceiptDocument>('receipts')

  return {
    keep(scope: Scope, roundId: string, receipt: SealedReceipt): Promise<boolean> {
      const key = { _id: roundId, scope: scopeKey(scope) }
      const sealed = secretBox.seal(JSON.stringify(receipt), receiptBinding(key))
      return insertedFirst(() =>
        receipts.insertOne({ ...key, receivedAt: new Date(receipt.received_at), sealed }),
      )
    },

    /** The receipt of a round; null for none. @throws Error for one that was changed in the database */
    async find(scope: Scope, roundId: string): Promise<SealedReceipt | null> {
      const found = await receipts.findOne({ _id: roundId, scope: scopeKey(scope) })
      if (found === null) return null
      return storedSchema.parse(JSON.parse(secretBox.open(found.sealed, receiptBinding(found))))
    },
  }
}
