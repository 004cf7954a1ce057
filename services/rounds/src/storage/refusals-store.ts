import { createHash } from 'node:crypto'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import { insertedFirst } from '@pitboss/storage/create-once'
import type { Db } from 'mongodb'
import { deadIdMs, type Refusal } from '../rules/refusal.ts'
import { openedUnder, type RoundDocument } from './round-document.ts'

const epoch = new Date(0)

/**
 * A refusal in the place of the round that its request would have opened: the unique index on nonce sequence
 * and id lets only one of the two exist. It has no scope, no transaction ids and a negative nonce, so that no
 * other search for rounds finds it.
 */
type RefusalDocument = Refusal & {
  _id: string
  chain: string
  openedUnder: string
  requestHash: string
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

/** The definite refusal of a player's request to play, which had this id of its own and this meaning. */
export type RefusedRequest = Refusal & { readonly transactionId: string; readonly requestHash: string }

export type RefusalsStore = ReturnType<typeof createRefusalsStore>

/**
 * Creates the store of requests to play that were refused before they had a round.
 * Source: docs/contract.md, section 1, "What a refusal promises".
 */
export function createRefusalsStore({ db }: { db: Db }) {
  const refusals = db.collection<RefusalDocument>('rounds')

  return {
    /** Keeps it for 24 hours. False when the nonce sequence has a round, or another refusal, with this id. */
    async insert(sequence: string, refused: RefusedRequest, now: Date): Promise<boolean> {
      const { transactionId, ...kept } = refused
      const digest = createHash('sha256').update(`${sequence}/${transactionId}`).digest()
      const document = {
        ...kept,
        _id: `refused/${digest.toString('hex')}`,
        chain: sequence,
        openedUnder: openedUnder('game', transactionId),
        nonce: -1 - digest.readUIntBE(0, 6),
        forgetAt: new Date(now.getTime() + deadIdMs),
      }
      return insertedFirst(() => refusals.insertOne(document))
    },
  }
}

/** The refusal in the place of a round; null for a round. */
export function decodeRefusal(
  document: RoundDocument | RefusalDocument,
): Omit<RefusedRequest, 'transactionId'> | null {
  if (!('forgetAt' in document)) return null
  const { requestHash, code, message, details } = document
  return { requestHash, code, message, details }
}
