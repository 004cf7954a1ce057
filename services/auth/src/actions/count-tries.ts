import { ServiceError } from '@pitboss/errors/service-error'
import { waitAfterTries } from '../rules/people-rules.ts'
import type { CountedTries } from '../storage/second-factors.ts'
import type { UserDocument } from '../storage/people-store.ts'
import type { AuthDeps } from './deps.ts'

const secrets = { codeTries: 'codes', knownCodeTries: 'codes', passwordTries: 'passwords' } as const

/** Counts a person's tries of a code or of the current password. Source: docs/contract.md, section 3. */
export function createCountTries({ stores: { people }, clock }: Pick<AuthDeps, 'stores' | 'clock'>) {
  /**
   * Counts a try before the secret is looked at, so that many tries at once are as slow as one after another.
   * @throws ServiceError RATE_LIMITED while the person has to wait
   */
  async function countTry(user: UserDocument, which: CountedTries): Promise<void> {
    const now = clock.now()
    const { count = 0, nextAt = now } = user[which] ?? {}
    const waitMs = nextAt.getTime() - now.getTime()
    if (waitMs > 0) throw tooManyTries(which, waitMs)
    const next = new Date(now.getTime() + waitAfterTries(count + 1))
    if (!(await people.takeTry(user, user._id, which, count, next))) throw tooManyTries(which, 1000)
  }

  /**
   * Counts a try, and forgets the count when `isRight` finds the secret right.
   * @throws ServiceError RATE_LIMITED while the person has to wait
   */
  return async function tried(
    user: UserDocument,
    which: CountedTries,
    isRight: () => Promise<boolean>,
  ): Promise<boolean> {
    await countTry(user, which)
    const right = await isRight()
    if (right) await people.forgetTries(user, user._id, which)
    return right
  }
}

function tooManyTries(which: CountedTries, waitMs: number): ServiceError {
  return new ServiceError('RATE_LIMITED', {
    message: `There were too many wrong ${secrets[which]}; wait before the next one.`,
    retryAfterS: Math.ceil(waitMs / 1000),
  })
}
