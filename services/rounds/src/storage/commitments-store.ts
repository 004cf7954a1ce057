import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import type { SecretBox } from '@pitboss/storage/secret-box'
import { type Db, MongoServerError } from 'mongodb'

const duplicateKey = 11_000

/** One nonce's seed, sealed, and its hash; written once, before anybody sees the hash, and never changed. */
type CommitmentDocument = {
  _id: string
  chain: string
  nonce: number
  sealedSeed: string
  serverSeedHash: string
  createdAt: Date
}

export type Commitment = {
  readonly nonce: number
  readonly sealedSeed: string
  readonly serverSeedHash: string
}

export const commitmentIndexes: readonly IndexDeclaration[] = [
  { key: { chain: 1, nonce: -1 }, name: 'chain_nonce', unique: true },
]

export type CommitmentsStore = ReturnType<typeof createCommitmentsStore>

/** @param newSeed from a CSPRNG; one seed serves one nonce. */
export function createCommitmentsStore({
  db,
  secretBox,
  newSeed,
  hashSeed,
}: {
  db: Db
  secretBox: SecretBox
  newSeed: () => string
  hashSeed: (seed: string) => string
}) {
  const commitments = db.collection<CommitmentDocument>('commitments')
  const idOf = (chain: string, nonce: number) => `${nonce}/${chain}`

  return {
    /** The commitment of this nonce; made now if nobody has made it. Whoever is first decides, for ever. */
    async ensure(chain: string, nonce: number, now: Date): Promise<Commitment> {
      const _id = idOf(chain, nonce)
      const present = await commitments.findOne({ _id })
      if (present !== null) return present
      const seed = newSeed()
      const made: CommitmentDocument = {
        _id,
        chain,
        nonce,
        sealedSeed: secretBox.seal(seed, _id),
        serverSeedHash: hashSeed(seed),
        createdAt: now,
      }
      try {
        await commitments.insertOne(made)
        return made
      } catch (error) {
        if (!(error instanceof MongoServerError) || error.code !== duplicateKey) throw error
      }
      const first = await commitments.findOne({ _id })
      if (first === null) throw new Error(`the commitment of nonce ${nonce} was refused and is not there`)
      return first
    },

    /** Newest nonce first. */
    async list(chain: string, { below, max }: { below: number | null; max: number }): Promise<Commitment[]> {
      return commitments
        .find({ chain, ...(below === null ? {} : { nonce: { $lt: below } }) })
        .sort({ nonce: -1 })
        .limit(max)
        .toArray()
    },

    /** The seed behind a commitment. @throws when the sealed text is damaged or of another nonce. */
    open: (chain: string, nonce: number, sealedSeed: string) =>
      secretBox.open(sealedSeed, idOf(chain, nonce)),
  }
}
