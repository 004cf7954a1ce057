import { createOnce } from '@pitboss/storage/create-once'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import type { ClaimDocument } from '@pitboss/storage/journal/journal'
import { claimedOwn } from '@pitboss/storage/journal/journal-keys'
import type { SecretBox } from '@pitboss/storage/stored-secrets'
import { together } from '@pitboss/runtime/together'
import type { Db } from 'mongodb'
import { readToEnd } from '@pitboss/storage/bounded-read'
import type { Commitment } from '../rules/new-round.ts'
import type { DatedCommitment } from './round-document.ts'
import { bookKey, bookRange } from './round-stream.ts'
import type { LastNonce, RoundsJournal } from './round-streams.ts'

/** The commitment of a nonce without a round of the journal: the first one, or an old one. Never changed. */
type CommitmentDocument = DatedCommitment & { _id: string; chain: string; nonce: number }

/** A nonce's hash, and when its seed was made, which is before the hash was shown. */
export type ListedCommitment = Pick<Commitment, 'nonce' | 'serverSeedHash'> & { readonly createdAt: Date }

export const commitmentIndexes: readonly IndexDeclaration[] = [
  { key: { chain: 1, nonce: -1 }, name: 'chain_nonce', unique: true },
]

export type CommitmentsStore = ReturnType<typeof createCommitmentsStore>

export function createCommitmentsStore(given: {
  readonly db: Db
  readonly secretBox: SecretBox
  /** From a CSPRNG: one seed serves one nonce. */
  readonly newSeed: () => string
  readonly hashSeed: (seed: string) => string
  readonly journal: Pick<RoundsJournal['journal'], 'store'>
}) {
  const { db, secretBox, newSeed, hashSeed, journal } = given
  const commitments = db.collection<CommitmentDocument>('commitments')
  const idOf = (sequence: string, nonce: number) => `${nonce}/${sequence}`

  const making = new Map<string, Promise<DatedCommitment & { readonly nonce: number }>>()

  async function create(_id: string, sequence: string, nonce: number, createdAt: Date) {
    const made = { _id, chain: sequence, nonce, ...make(sequence, nonce, createdAt) }
    const { result } = await createOnce<DatedCommitment & { readonly nonce: number }>({
      document: made,
      insert: () => commitments.insertOne(made),
      find: () => commitments.findOne({ _id, chain: sequence }),
      name: `the commitment of nonce ${nonce}`,
    })
    return result
  }

  /** A new commitment of a nonce, for the round before it to store. */
  function make(sequence: string, nonce: number, createdAt: Date): DatedCommitment {
    const seed = newSeed()
    const sealedSeed = secretBox.seal(seed, idOf(sequence, nonce))
    return { sealedSeed, serverSeedHash: hashSeed(seed), createdAt }
  }

  return {
    make,

    /** The commitment of the next nonce, made by the last round or now; the first write decides. */
    async after(sequence: string, { nonce, next }: LastNonce, now: Date) {
      if (next !== null) return { ...next, nonce: nonce + 1 }
      const _id = idOf(sequence, nonce + 1)
      const made = await together(making, _id, () => create(_id, sequence, nonce + 1, now))
      const { sealedSeed, serverSeedHash, createdAt } = made
      return { nonce: nonce + 1, sealedSeed, serverSeedHash, createdAt }
    },

    /** Reseals the commitment under the current key. @throws Error when the seed cannot be opened */
    resealed: <Sealed extends Commitment>(sequence: string, commitment: Sealed): Sealed => ({
      ...commitment,
      sealedSeed: secretBox.reseal(commitment.sealedSeed, idOf(sequence, commitment.nonce)),
    }),

    async list(
      sequence: string,
      { last, below, max }: { last: LastNonce; below: number | null; max: number },
    ): Promise<ListedCommitment[]> {
      const end = below ?? Number.POSITIVE_INFINITY
      const nextNonce = last.nonce + 1
      const { above, below: highest } = bookRange(sequence)
      const range = { above, below: below === null ? highest : bookKey(sequence, below) }
      const played = (await journal.store.readClaims(range, max)).flatMap(committedBy)
      // Another process may have begun the next round since.
      const isNext = nextNonce < end && nextNonce > (played[0]?.nonce ?? 0)
      const shown =
        last.next !== null && !last.unfinished && isNext
          ? [{ nonce: nextNonce, serverSeedHash: last.next.serverSeedHash, createdAt: last.next.createdAt }]
          : []
      const newer = [...shown, ...played].slice(0, max)
      const lowest = newer.at(-1)?.nonce ?? end
      if (newer.length === max) return newer
      const lower = lowest === Number.POSITIVE_INFINITY ? {} : { nonce: { $lt: lowest } }
      const older = commitments.find(
        { chain: sequence, ...lower },
        { sort: { nonce: -1 }, limit: max - newer.length },
      )
      return [...newer, ...(await readToEnd(older))]
    },

    /** Opens a seed. @throws Error for a text that is damaged or of another nonce */
    open: (sequence: string, nonce: number, sealedSeed: string) =>
      secretBox.open(sealedSeed, idOf(sequence, nonce)),
  }
}

function committedBy(claim: ClaimDocument & { readonly h?: string; readonly ca?: Date }): ListedCommitment[] {
  const { _id, h, ca } = claim
  if (h === undefined || h === '' || ca === undefined) return []
  return [{ nonce: Number(claimedOwn(_id)), serverSeedHash: h, createdAt: ca }]
}
