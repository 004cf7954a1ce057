import type { AuditEntry } from '@pitboss/contracts/audit'
import { auditedUpdate } from '@pitboss/storage/audit-outbox'
import type { Collection } from 'mongodb'
import { unpublishedChange } from './access-change.ts'
import type { AccountScope } from './page.ts'
import type { UserDocument } from './people-store.ts'

/**
 * Tries since the last right one: of a code by strangers, of a code from devices with a session, or of the
 * current password of a signed-in person.
 */
export type CountedTries = 'codeTries' | 'knownCodeTries' | 'passwordTries'

/** The part of the store of people that is about their second factors and counted tries. */
export function secondFactorsIn(users: Collection<UserDocument>) {
  return {
    /** Counts a try. False when another try was counted since `counted`. */
    async takeTry(
      { operatorId }: AccountScope,
      userId: string,
      which: CountedTries,
      counted: number,
      nextAt: Date,
    ): Promise<boolean> {
      const seen = counted === 0 ? { [which]: null } : { [`${which}.count`]: counted }
      const { modifiedCount } = await users.updateOne(
        { _id: userId, operatorId, ...seen },
        { $set: { [which]: { count: counted + 1, nextAt } } },
      )
      return modifiedCount === 1
    },

    forgetTries: async ({ operatorId }: AccountScope, userId: string, which: CountedTries): Promise<void> => {
      await users.updateOne({ _id: userId, operatorId }, { $set: { [which]: null } })
    },

    /** Starts a second factor unless one is in use. */
    enrolTotp: async (
      { operatorId }: AccountScope,
      userId: string,
      sealedSecret: string,
      audit: AuditEntry,
    ): Promise<void> => {
      await users.updateOne(
        { _id: userId, operatorId, 'totp.confirmed': { $ne: true } },
        auditedUpdate({ $set: { totp: { sealedSecret, confirmed: false, lastStep: 0 } } }, audit),
      )
    },

    /** Ends every session; the change is unpublished afterwards. */
    removeTotp: async ({ operatorId }: AccountScope, userId: string, audit: AuditEntry): Promise<void> => {
      const removed = unpublishedChange<UserDocument>({ totp: null, recoveryHashes: [], sessions: [] })
      await users.updateOne({ _id: userId, operatorId }, auditedUpdate({ $set: removed }, audit))
    },

    /**
     * Uses up a step of the second factor. The step that confirms it brings the recovery codes and ends every
     * session; the change is unpublished afterwards.
     * @returns false when this step or a later one was used
     */
    async takeTotpStep(
      { operatorId }: AccountScope,
      userId: string,
      { sealedSecret, step }: { sealedSecret: string; step: number },
      confirmation: { recoveryHashes: string[]; audit: AuditEntry } | null,
    ): Promise<boolean> {
      const { recoveryHashes = [], audit = null } = confirmation ?? {}
      const confirming = confirmation === null ? {} : unpublishedChange({ recoveryHashes, sessions: [] })
      const { matchedCount } = await users.updateOne(
        { _id: userId, operatorId, 'totp.lastStep': { $lt: step }, 'totp.sealedSecret': sealedSecret },
        auditedUpdate<UserDocument>(
          { $set: { 'totp.lastStep': step, 'totp.confirmed': true, ...confirming } },
          audit,
        ),
      )
      return matchedCount === 1
    },

    /** Uses up a recovery code. False when the person has none of these hashes. */
    async takeRecoveryCode(
      { operatorId }: AccountScope,
      userId: string,
      hashes: readonly string[],
    ): Promise<boolean> {
      const { modifiedCount } = await users.updateOne(
        { _id: userId, operatorId, recoveryHashes: { $in: [...hashes] } },
        { $pull: { recoveryHashes: { $in: [...hashes] } } },
      )
      return modifiedCount === 1
    },
  }
}
