import { BoundedMap } from '@pitboss/runtime/bounded-map'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import { isDuplicateKey } from '@pitboss/storage/is-duplicate-key'
import type { SecretBox } from '@pitboss/storage/secret-box'
import { type Db } from 'mongodb'
import type { Commitment } from '../rules/new-round.ts'

const knownMax = 10_000

/** One nonce's seed, sealed, and its hash; written once, before anybody sees the hash, and never changed. */
type CommitmentDocument = {
  _id: string
  chain: string
  nonce: number
  sealedSeed: string
  serverSeedHash: string
  createdAt: Date
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

  /** Those seen last. They never change, so none is ever stale. */
  const known = new BoundedMap<string, Commitment>(knownMax)

  /** Null when somebody was first. */
  async function insert(_id: string, chain: string, nonce: number, now: Date): Promise<Commitment | null> {
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
      if (isDuplicateKey(error)) return null
      throw error
    }
  }

  async function find(_id: string, nonce: number): Promise<Commitment> {
    const first = await commitments.findOne({ _id })
    if (first === null) throw new Error(`the commitment of nonce ${nonce} was refused and is not there`)
    return first
  }

  return {
    /** The commitment of this nonce; made now if nobody has made it. Whoever is first decides, for ever. */
    async ensure(chain: string, nonce: number, now: Date): Promise<Commitment> {
      const _id = idOf(chain, nonce)
      const commitment = known.get(_id) ?? (await insert(_id, chain, nonce, now)) ?? (await find(_id, nonce))
      known.set(_id, commitment)
      return commitment
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
