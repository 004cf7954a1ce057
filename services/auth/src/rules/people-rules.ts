import type { Role } from '@pitboss/contracts/caller'
import type { AccountMode } from '@pitboss/contracts/primitives'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'

/**
 * Words that people put digits and signs around. Further down the list stand words that say little by
 * themselves, such as "viewer".
 */
const commonCoresMax = 1000
/** A shorter rest of a password says nothing about it. */
const coreCharactersMin = 4
let commonPasswords: Promise<{ all: Set<string>; cores: Set<string> }> | undefined
const freeTries = 3
const longestWaitMs = 15 * 60 * 1000

/**
 * Refuses a password that is on the list of common ones, and one of the thousand most common within digits
 * and signs (`password1234`, `!!qwerty!!`), in any case of letters.
 * The list is read when the first password is chosen, since it would hold up the start of the service.
 * Source: docs/contract.md, section 12.
 * @throws ServiceError VALIDATION_ERROR at `path`
 */
export async function requireUncommonPassword(password: string, path: string): Promise<void> {
  commonPasswords ??= import('@zxcvbn-ts/language-common').then(({ dictionary }) => {
    const all = dictionary['passwords-common']
    return { all: new Set(all), cores: new Set(all.slice(0, commonCoresMax)) }
  })
  const { all, cores } = await commonPasswords
  const text = password.toLowerCase()
  const core = text.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '')
  const isCommon = all.has(text) || (core.length >= coreCharactersMin && cores.has(core))
  if (isCommon || core === '') throw invalidField(path, 'is too common; choose one that nobody would try')
}

/**
 * Time that a person waits before the next code of a second factor is tried, in milliseconds: none for the
 * first three tries since the last right one, then 2 s, 4 s and so on up to 15 minutes.
 * Source: ours.
 */
export function waitAfterTries(tries: number): number {
  return tries < freeTries ? 0 : Math.min(longestWaitMs, 1000 * 2 ** (tries - freeTries + 1))
}

/**
 * A DEVELOPER works with TEST keys that have scopes; LIVE and unscoped keys are for OWNER and ADMIN.
 * Source: docs/contract.md, section 12.
 * @param key the key pair as it is or would be
 * @throws ServiceError FORBIDDEN
 */
export function requireKeyPermission(
  role: Role | null,
  key: { environment: AccountMode; scopes: readonly string[] },
): void {
  if (role !== 'DEVELOPER' || (key.environment === 'TEST' && key.scopes.length > 0)) return
  throw new ServiceError('FORBIDDEN', {
    message: 'The role DEVELOPER permits TEST keys with scopes alone; ask an OWNER or ADMIN.',
  })
}
