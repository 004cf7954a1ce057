import { Secret, TOTP } from 'otpauth'
import type { KeyedHash } from '@pitboss/storage/keyed-hash'
import type { SecretBox } from '@pitboss/storage/secret-box'
import type { Clock } from '@pitboss/runtime/clock'
import { randomBase62 } from '../rules/key-pair.ts'
import type { UserDocument } from '../storage/documents.ts'
import type { PeopleStore } from '../storage/people-store.ts'

const stepS = 30
const recoveryCodes = 10
const recoveryCharacters = 12

/** TOTP and recovery codes; each code works once, also with two replicas asked at the same time. Source: contract section 11. */
export function createSecondFactor({
  people,
  box,
  tokenHash,
  clock,
  random,
}: {
  people: PeopleStore
  box: SecretBox
  tokenHash: KeyedHash
  clock: Clock
  random: (size: number) => Uint8Array
}) {
  const totpOf = (email: string, secret: string) =>
    new TOTP({ issuer: 'Pitboss', label: email, secret: Secret.fromBase32(secret), period: stepS })
  const aad = (userId: string) => `totp/${userId}`

  /** Takes the step of a right code for itself; false when the code is wrong or was used. */
  async function useTotpCode(
    user: UserDocument,
    code: string,
    set: Partial<UserDocument> = {},
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
    return people.takeTotpStep(user, user._id, { sealedSecret, step }, set)
  }

  return {
    enrol(user: UserDocument) {
      const secret = new Secret({ size: 20 }).base32
      return {
        secret,
        otpauthUrl: totpOf(user.email, secret).toString(),
        sealedSecret: box.seal(secret, aad(user._id)),
      }
    },
    /** Confirms an enrolment with its first code; the recovery codes, or null for a wrong code. */
    async confirm(user: UserDocument, code: string): Promise<string[] | null> {
      const codes = Array.from({ length: recoveryCodes }, () => randomBase62(recoveryCharacters, random))
      const confirmed = await useTotpCode(user, code, {
        recoveryHashes: codes.map((each) => tokenHash.hash(each)),
      })
      return confirmed ? codes : null
    },
    /** A code of the app or a recovery code. */
    async use(user: UserDocument, code: string): Promise<boolean> {
      if (await useTotpCode(user, code)) return true
      return people.takeRecoveryCode(user, user._id, tokenHash.candidates(code))
    },
  }
}
export type SecondFactor = ReturnType<typeof createSecondFactor>
