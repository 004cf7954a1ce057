import type { AuditEntry } from '@pitboss/contracts/audit'
import { Secret, TOTP } from 'otpauth'
import { randomBase62 } from '../rules/key-pair.ts'
import type { UserDocument } from '../storage/people-store.ts'
import { createCountTries } from './count-tries.ts'
import type { AuthDeps } from './deps.ts'

const stepS = 30
const recoveryCodes = 10
const recoveryCharacters = 12

/**
 * Checks TOTP and recovery codes. Each code works once, also when two replicas check it at the same time.
 * Source: docs/contract.md, section 11.
 */
export function createSecondFactor(deps: AuthDeps) {
  const { stores, box, tokenHash, clock, random } = deps
  const { people } = stores
  const tried = createCountTries(deps)
  const totpOf = (email: string, secret: string) =>
    new TOTP({ issuer: 'Pitboss', label: email, secret: Secret.fromBase32(secret), period: stepS })
  const aad = (userId: string) => `totp/${userId}`

  /** Uses up the step of a code. False when the code is wrong or was used already. */
  async function useTotpCode(
    user: UserDocument,
    code: string,
    confirmation: { recoveryHashes: string[]; audit: AuditEntry } | null = null,
  ): Promise<boolean> {
    if (user.totp === null || !/^\d{6}$/.test(code)) return false
    const timestamp = clock.now().getTime()
    const delta = totpOf(user.email, box.open(user.totp.sealedSecret, aad(user._id))).validate({
      token: code,
      timestamp,
      window: 1,
    })
    if (delta === null) return false
    const step = Math.floor(timestamp / 1000 / stepS) + delta
    const { sealedSecret } = user.totp
    return people.takeTotpStep(user, user._id, { sealedSecret, step }, confirmation)
  }

  return {
    /** Makes a secret for a person; stores nothing. */
    enrol(user: UserDocument) {
      const secret = new Secret({ size: 20 }).base32
      return {
        secret,
        otpauthUrl: totpOf(user.email, secret).toString(),
        sealedSecret: box.seal(secret, aad(user._id)),
      }
    },

    /**
     * Confirms an enrolment with its first code.
     * @returns the recovery codes; null for a wrong code
     * @throws ServiceError RATE_LIMITED after wrong codes
     */
    async confirm(user: UserDocument, code: string, audit: AuditEntry): Promise<string[] | null> {
      const codes = Array.from({ length: recoveryCodes }, () => randomBase62(recoveryCharacters, random))
      const recoveryHashes = codes.map((each) => tokenHash.hash(each))
      const confirmed = await tried(user, 'codeTries', () =>
        useTotpCode(user, code, { recoveryHashes, audit }),
      )
      return confirmed ? codes : null
    },

    /**
     * Uses up a code of the app, or a recovery code. False when it is neither. Wrong codes of strangers make
     * nobody wait who is known: by a session, or by the device of one.
     * @throws ServiceError RATE_LIMITED after wrong codes
     */
    use: (user: UserDocument, code: string, from: 'known' | 'stranger'): Promise<boolean> =>
      tried(user, from === 'known' ? 'knownCodeTries' : 'codeTries', async () => {
        if (await useTotpCode(user, code)) return true
        return people.takeRecoveryCode(user, user._id, tokenHash.candidates(code))
      }),
  }
}
