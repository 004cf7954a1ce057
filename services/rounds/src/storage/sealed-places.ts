import type { SealedPlace } from '@pitboss/storage/rewrite-seals'
import type { Document } from 'mongodb'
import { receiptBinding, receiptPurpose } from './receipts-store.ts'

const purpose = 'server-seeds'
const shardKey = 'chain'
const valuesIn = ({ chain, nonce, sealedSeed }: Document) => [
  { path: 'sealedSeed', sealed: String(sealedSeed), aad: `${nonce}/${chain}` },
]
const holding = (range: Document) => ({ sealedSeed: range })
// A round that was made for a lost stake has an empty text.
const sealed = { sealedSeed: { $gt: '' } }

/** Everything that rounds seals: the seeds of commitments and of unfinished rounds, and receipts. */
export const sealedPlaces: readonly SealedPlace[] = [
  { collection: 'commitments', shardKey, purpose, filter: {}, holding, valuesIn },
  {
    ...{ collection: 'rounds', shardKey, purpose, filter: { unfinished: true, ...sealed } },
    ...{ hint: 'one_unfinished', holding, valuesIn },
  },
  {
    ...{ collection: 'receipts', purpose: receiptPurpose, filter: {} },
    holding: (range) => ({ sealed: range }),
    valuesIn: ({ _id, scope, sealed: text }) => [
      {
        path: 'sealed',
        sealed: String(text),
        aad: receiptBinding({ _id: String(_id), scope: String(scope) }),
      },
    ],
  },
]
