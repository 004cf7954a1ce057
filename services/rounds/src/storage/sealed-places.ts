import type { SealedPlace } from '@pitboss/storage/rewrite-seals'
import type { Document } from 'mongodb'

const purpose = 'server-seeds'
const shardKey = 'chain'
const valuesIn = ({ chain, nonce, sealedSeed }: Document) => [
  { path: 'sealedSeed', sealed: String(sealedSeed), aad: `${nonce}/${chain}` },
]
const holding = (range: Document) => ({ sealedSeed: range })
// A round that was made for a lost stake has an empty text.
const sealed = { sealedSeed: { $gt: '' } }

/** What the core seals: the seeds of commitments and of unfinished rounds. */
export const sealedSeeds: readonly SealedPlace[] = [
  { collection: 'commitments', shardKey, purpose, filter: {}, holding, valuesIn },
  {
    ...{ collection: 'rounds', shardKey, purpose, filter: { unfinished: true, ...sealed } },
    ...{ hint: 'one_unfinished', holding, valuesIn },
  },
]
