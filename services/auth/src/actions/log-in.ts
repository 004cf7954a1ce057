import type { login } from '@pitboss/contracts/calls/auth'
import { ServiceError } from '@pitboss/errors/service-error'
import type { z } from 'zod'
import { toPublicUser } from '../records/user-view.ts'
import type { UserDocument } from '../storage/people-store.ts'
import type { AuthDeps } from './deps.ts'
import { createSecondFactor } from './second-factor.ts'

const refreshLifetimeS = 14 * 24 * 60 * 60

/** Signs people in, keeps them signed in and signs them out. Source: docs/contract.md, sections 3 and 11. */
export function createLogIn(deps: AuthDeps) {
  const { stores, passwords, signer, tokenHash, clock, newId, random, tokenTtlS } = deps
  const { operators, people, refreshTokens } = stores
  const secondFactor = createSecondFactor(deps)

  /** Makes an access token and the refresh token of `family` that renews it. */
  async function issue(user: UserDocument, family: string) {
    const operator = await operators.find(user)
    if (operator === null) throw new ServiceError('INVALID_CREDENTIALS')
    const nowMs = clock.now().getTime()
    const refreshToken = Buffer.from(random(32)).toString('base64url')
    await refreshTokens.insert({
      _id: tokenHash.hash(refreshToken),
      userId: user._id,
      family,
      usedAt: null,
      expiresAt: new Date(nowMs + refreshLifetimeS * 1000),
    })
    const access_token = await signer.sign({
      audience: 'dashboard',
      subject: user._id,
      operatorId: user.operatorId,
      mode: 'TEST',
      scopes: [],
      expiresAtS: Math.floor(nowMs / 1000) + tokenTtlS,
    })
    const body = {
      access_token,
      token_type: 'Bearer' as const,
      expires_in: tokenTtlS,
      user: toPublicUser(user, operator.owners),
    }
    return { body, refreshToken, refreshMaxAgeS: refreshLifetimeS }
  }

  return {
    /**
     * @throws ServiceError INVALID_CREDENTIALS, with a detail at `totp` when only the second factor is
     * missing or wrong
     */
    async logIn({ email, password, totp }: z.infer<typeof login.request>) {
      const user = await people.activeByEmail(email.toLowerCase())
      const matches = await passwords.verify(password, user?.passwordHash ?? null)
      if (user === null || !matches) throw new ServiceError('INVALID_CREDENTIALS')
      if (user.totp?.confirmed === true) {
        if (totp === null) throw codeNeeded('is needed: the account uses a second factor')
        if (!(await secondFactor.use(user, totp))) throw codeNeeded('is wrong or was used already')
      }
      const now = clock.now()
      await people.noteLogin(user, user._id, now)
      const family = newId('fam')
      const session = await issue({ ...user, lastLoginAt: now }, family)
      // A change of the password or a removal that ended while the token was made wins.
      if (user.passwordHash === null || !(await people.hasPassword(user, user._id, user.passwordHash))) {
        await refreshTokens.end({ family })
        throw new ServiceError('INVALID_CREDENTIALS')
      }
      return session
    },

    /**
     * Exchanges a refresh token for the next one of its family.
     * @throws ServiceError INVALID_CREDENTIALS for an unknown, expired or used token, or when the person is
     * not active
     */
    async refresh(refreshToken: string) {
      const hashes = tokenHash.candidates(refreshToken)
      const used = await refreshTokens.use(hashes, clock.now())
      if (used === null) {
        // Somebody copied a token that comes back after its use: the family ends for its thief and its owner.
        const reused = await refreshTokens.find(hashes)
        if (reused !== null) await refreshTokens.end({ family: reused.family })
        throw new ServiceError('INVALID_CREDENTIALS')
      }
      const user = await people.activeById(used.userId)
      if (user === null) throw new ServiceError('INVALID_CREDENTIALS')
      const session = await issue(user, used.family)
      // A request that ended the family in the meantime ends the new token, too.
      if ((await refreshTokens.find([used._id])) === null) await refreshTokens.end({ family: used.family })
      return session
    },

    /** Ends the family of a refresh token; an unknown token is no error. */
    async logOut(refreshToken: string): Promise<void> {
      const found = await refreshTokens.find(tokenHash.candidates(refreshToken))
      if (found !== null) await refreshTokens.end({ family: found.family })
    },
  }
}

function codeNeeded(message: string): ServiceError {
  return new ServiceError('INVALID_CREDENTIALS', { details: [{ path: 'totp', message }] })
}
