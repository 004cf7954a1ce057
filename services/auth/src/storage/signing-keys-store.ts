import type { AuditEntry } from '@pitboss/contracts/audit'
import { auditedUpdate, type WithAudit } from '@pitboss/storage/audit-outbox'
import { createOnce } from '@pitboss/storage/create-once'
import type { Db } from 'mongodb'
import { type AccessSubject, accessChangesIn, unpublishedChange } from './access-change.ts'

export type SigningKeyDocument = Partial<AccessSubject> &
  WithAudit & {
    /** The `kid`. */
    _id: string
    current: boolean
    publicJwk: Record<string, unknown>
    sealedPrivateJwk: string
    createdAt: Date
    /** The key verifies until then; null while it is current. */
    retiresAt: Date | null
    /** When operations ended it; from then on it verifies nothing, whatever the clock of a replica says. */
    withdrawnAt?: Date
  }

const keysMax = 100
/** A new key each week for nineteen years. */
const recordKeysMax = 1000

/** The keys that sign tokens; an index allows one current key. */
export function createSigningKeysStore({ db }: { db: Db }) {
  const signingKeys = db.collection<SigningKeyDocument>('signing_keys')
  const current = () => signingKeys.findOne({ current: true })
  return {
    ...accessChangesIn(db, 'signing_keys'),

    current,

    /** Inserts a current key, or finds the one that another replica inserted first. */
    async insertCurrent(key: SigningKeyDocument): Promise<SigningKeyDocument> {
      const insert = () => signingKeys.insertOne(key)
      return (await createOnce({ document: key, insert, find: current, name: 'a signing key' })).result
    },

    /**
     * The current key is none afterwards and verifies until `retiresAt`. False when there was none; then the
     * audit entry is not written either.
     */
    retireCurrent: async (retiresAt: Date, audit: AuditEntry): Promise<boolean> => {
      const { matchedCount } = await signingKeys.updateOne(
        { current: true },
        auditedUpdate({ $set: { current: false, retiresAt } }, audit),
      )
      return matchedCount === 1
    },

    /** Ends a key of any state; its end is unpublished. False when there is none of this id. */
    async withdraw(kid: string, withdrawnAt: Date, audit: AuditEntry): Promise<boolean> {
      const set = unpublishedChange<SigningKeyDocument>({
        current: false,
        retiresAt: withdrawnAt,
        withdrawnAt,
      })
      const { matchedCount } = await signingKeys.updateOne({ _id: kid }, auditedUpdate({ $set: set }, audit))
      return matchedCount === 1
    },

    /** The keys whose end is unpublished. */
    endedUnpublished: () => signingKeys.find({ accessPending: true }).limit(keysMax).toArray(),

    /** The newest 100 keys, newest first. */
    newest: () => signingKeys.find({}).sort({ createdAt: -1 }).limit(keysMax).toArray(),

    /** The keys that were not withdrawn, however old, newest first. */
    notWithdrawn: () =>
      signingKeys
        .find({ withdrawnAt: { $exists: false } })
        .sort({ createdAt: -1 })
        .limit(recordKeysMax)
        .toArray(),
  }
}
