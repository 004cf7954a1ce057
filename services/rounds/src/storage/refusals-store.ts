import { createHash } from 'node:crypto'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import { insertedFirst } from '@pitboss/storage/create-once'
import type { Db } from 'mongodb'
import type { Refusal } from '../rules/refusal.ts'

/** Time for which a refusal is kept: longer than any request is under way. Source: ours. */
const keptMs = 10 * 60 * 1000
const epoch = new Date(0)

/**
 * A refusal in the place of the round that its request would have opened: the unique index on nonce sequence
 * and id lets only one of the two exist. It has no scope, no transaction ids and a negative nonce, so that no
 * search for rounds finds it.
 */
type RefusalDocument = Omit<Refusal, 'transactionId'> & {
  _id: string
  chain: string
  openedUnder: string
  nonce: number
  forgetAt: Date
}

/** Declared with the indexes of rounds, whose collection this is. */
export const refusalIndex: IndexDeclaration = {
  key: { forgetAt: 1 },
  name: 'forget_at',
  expireAfterSeconds: 0,
  partialFilterExpression: { forgetAt: { $gt: epoch } },
}

export type RefusalsStore = ReturnType<typeof createRefusalsStore>

/**
 * Creates the store of requests that were refused before they had a round.
 * Source: docs/contract.md, section 12, "A definite answer is true for ever".
 */
export function createRefusalsStore({ db }: { db: Db }) {
  const refusals = db.collection<RefusalDocument>('rounds')
  const of = (sequence: string, openedUnder: string) => ({
    chain: sequence,
    openedUnder,
    forgetAt: { $gt: epoch },
  })

  return {
    /**
     * Keeps it for 10 minutes. False when the nonce sequence has a round, or another refusal, with this id.
     */
    async insert(sequence: string, refusal: Refusal): Promise<boolean> {
      const { transactionId, ...kept } = refusal
      const digest = createHash('sha256').update(`${sequence}/${transactionId}`).digest()
      const document = {
        ...kept,
        _id: `refused/${digest.toString('hex')}`,
        chain: sequence,
        openedUnder: transactionId,
        nonce: -1 - digest.readUIntBE(0, 6),
        forgetAt: new Date(refusal.toldAt.getTime() + keptMs),
      }
      return insertedFirst(() => refusals.insertOne(document))
    },

    /** The refusal of the request with this id; null for none. */
    async find(sequence: string, transactionId: string): Promise<Refusal | null> {
      const found = await refusals.findOne(of(sequence, transactionId))
      if (found === null) return null
      const { requestHash, code, message, details, toldAt } = found
      return { transactionId, requestHash, code, message, details, toldAt }
    },

    /** Makes room for another request with this id; a refusal of a later time stays. */
    async remove(sequence: string, { transactionId, requestHash, toldAt }: Refusal): Promise<void> {
      await refusals.deleteOne({ ...of(sequence, transactionId), requestHash, toldAt })
    },
  }
}
