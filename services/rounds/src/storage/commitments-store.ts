import { BoundedMap } from '@pitboss/runtime/bounded-map'
import { ConfigError } from '@pitboss/runtime/load-config'
import { createOnce } from '@pitboss/storage/create-once'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import type { Keyring } from '@pitboss/storage/keyring'
import type { SecretBox } from '@pitboss/storage/stored-secrets'
import type { Db } from 'mongodb'
import type { Commitment } from '../rules/new-round.ts'
import { boundedRead, readMaxMs } from './bounded-read.ts'

const knownMax = 10_000
const keyIdsMax = 1000
const batchMax = 1000
/** Time for the search below: a start that cannot tell is refused, too. */
const searchMs = 10_000

/** One nonce's sealed seed and its hash: written once, before the hash is shown, and never changed. */
type CommitmentDocument = {
  _id: string
  chain: string
  nonce: number
  sealedSeed: string
  serverSeedHash: string
  createdAt: Date
}

/** A commitment and when it was made, which is before its hash was shown. */
export type DatedCommitment = Commitment & { readonly createdAt: Date }

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

  /** Those that are being made, for requests that come meanwhile. */
  const making = new Map<string, Promise<Commitment>>()

  async function create(_id: string, sequence: string, nonce: number, createdAt: Date): Promise<Commitment> {
    const seed = newSeed()
    const sealedSeed = secretBox.seal(seed, _id)
    const made = { _id, chain: sequence, nonce, sealedSeed, serverSeedHash: hashSeed(seed), createdAt }
    const { result } = await createOnce<Commitment>({
      document: made,
      insert: () => commitments.insertOne(made),
      find: () => commitments.findOne({ _id, chain: sequence }),
      name: `the commitment of nonce ${nonce}`,
    })
    return result
  }

  return {
    /** The commitment of this nonce, made now if there is none. The first write decides it for ever. */
    async ensure(sequence: string, nonce: number, now: Date): Promise<Commitment> {
      const _id = idOf(sequence, nonce)
      const seen = known.get(_id)
      if (seen !== undefined) return seen
      const made = making.get(_id) ?? create(_id, sequence, nonce, now)
      making.set(_id, made)
      try {
        const commitment = await made
        known.set(_id, commitment)
        return commitment
      } finally {
        making.delete(_id)
      }
    },

    /**
     * The commitment with its seed sealed under the current key.
     * @throws Error when its seed cannot be opened: the key is gone, or the text is damaged or of another
     * nonce
     */
    resealed: (sequence: string, commitment: Commitment): Commitment => ({
      ...commitment,
      sealedSeed: secretBox.reseal(commitment.sealedSeed, idOf(sequence, commitment.nonce)),
    }),

    /** Commitments below a nonce with the time of each, newest first. */
    async list(
      sequence: string,
      { below, max }: { below: number | null; max: number },
    ): Promise<DatedCommitment[]> {
      return boundedRead(() =>
        commitments
          .find({ chain: sequence, ...(below === null ? {} : { nonce: { $lt: below } }) })
          .sort({ nonce: -1 })
          .limit(max)
          .maxTimeMS(readMaxMs)
          .toArray(),
      )
    },

    /**
     * The seed of a commitment.
     * @throws Error when the sealed text is damaged or of another nonce
     */
    open: (sequence: string, nonce: number, sealedSeed: string) =>
      secretBox.open(sealedSeed, idOf(sequence, nonce)),
  }
}

/**
 * Refuses master keys that lack one under which the seed of an unfinished round, or of a nonce to come, is
 * sealed: its round could take a stake and never end. Searches only if a key that this database was written
 * under is missing. Source: ours.
 * @throws ConfigError naming the key id
 */
export async function assertSeedsOpen(db: Db, keyring: Pick<Keyring, 'kids'>): Promise<void> {
  const written = await db.collection<{ _id: string }>('master_keys').find({}).limit(keyIdsMax).toArray()
  const untilMs = performance.now() + searchMs
  for (const { _id: kid } of written) {
    if (keyring.kids.includes(kid)) continue
    const needs = await needOf(db, kid, untilMs)
    if (needs === null) continue
    const problem = `the key ${kid} is missing, and ${needs} (${db.databaseName}). Give it again, after the current one`
    throw new ConfigError([{ variable: 'PITBOSS_MASTER_KEYS', problem }])
  }
}

/** Tells in words which seed needs the key; null for none. */
async function needOf(db: Db, kid: string, untilMs: number): Promise<string | null> {
  type Sealed = { chain: string; nonce: number; sealedSeed: string; unfinished?: boolean }
  const rounds = db.collection<Sealed>('rounds')
  // "/" follows "." in ASCII.
  const sealedSeed = { $gt: `v1.${kid}.`, $lt: `v1.${kid}/` }
  const unfinished = { unfinished: true, sealedSeed }
  if ((await rounds.findOne(unfinished, { hint: 'one_unfinished' })) !== null) {
    return 'seeds of unfinished rounds are sealed under it'
  }
  const sealed = db.collection<Sealed>('commitments').find({ sealedSeed }, { batchSize: batchMax })
  try {
    for await (const { chain, nonce } of sealed.project<Sealed>({ _id: 0, chain: 1, nonce: 1 })) {
      const next = await rounds.findOne({ chain, nonce: { $gte: nonce } }, { projection: { _id: 1 } })
      if (next === null) return 'seeds of nonces to come are sealed under it'
      if (performance.now() > untilMs) return 'it takes too long to tell whether seeds are sealed under it'
    }
  } finally {
    await sealed.close()
  }
  return null
}
