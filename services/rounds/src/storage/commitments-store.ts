import { BoundedMap } from '@pitboss/runtime/bounded-map'
import { createOnce } from '@pitboss/storage/create-once'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import type { SecretBox } from '@pitboss/storage/stored-secrets'
import type { Db } from 'mongodb'
import type { Commitment } from '../rules/new-round.ts'

const knownMax = 10_000

/** One nonce's sealed seed and its hash: written once, before the hash is shown, and never changed. */
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

/** @param newSeed from a CSPRNG; one seed serves one nonce */
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
  const idOf = (sequence: string, nonce: number) => `${nonce}/${sequence}`

  /** The commitments seen last. They never change, so none is ever stale. */
  const known = new BoundedMap<string, Commitment>(knownMax)

  async function create(_id: string, sequence: string, nonce: number, createdAt: Date): Promise<Commitment> {
    const seed = newSeed()
    const sealedSeed = secretBox.seal(seed, _id)
    const made = { _id, chain: sequence, nonce, sealedSeed, serverSeedHash: hashSeed(seed), createdAt }
    const { result } = await createOnce<Commitment>({
      async insert() {
        await commitments.insertOne(made)
        return made
      },
      find: () => commitments.findOne({ _id }),
      name: `the commitment of nonce ${nonce}`,
    })
    return result
  }

  return {
    /** The commitment of this nonce, made now if there is none. The first write decides it for ever. */
    async ensure(sequence: string, nonce: number, now: Date): Promise<Commitment> {
      const _id = idOf(sequence, nonce)
      const commitment = known.get(_id) ?? (await create(_id, sequence, nonce, now))
      known.set(_id, commitment)
      return commitment
    },

    /** Commitments below a nonce, newest first. */
    async list(
      sequence: string,
      { below, max }: { below: number | null; max: number },
    ): Promise<Commitment[]> {
      return commitments
        .find({ chain: sequence, ...(below === null ? {} : { nonce: { $lt: below } }) })
        .sort({ nonce: -1 })
        .limit(max)
        .toArray()
    },

    /**
     * The seed of a commitment.
     * @throws Error when the sealed text is damaged or of another nonce
     */
    open: (sequence: string, nonce: number, sealedSeed: string) =>
      secretBox.open(sealedSeed, idOf(sequence, nonce)),
  }
}
