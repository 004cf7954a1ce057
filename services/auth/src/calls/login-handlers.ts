import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { acceptInvitation, login, logout, refreshLogin } from '@pitboss/contracts/calls/auth'
import { password as passwordSchema } from '@pitboss/contracts/objects/user'
import { ServiceError, invalidField } from '@pitboss/errors/service-error'
import { type SecondFactor } from '../actions/second-factor.ts'
import { toPublicUser } from '../records/user-view.ts'
import type { UserDocument } from '../storage/documents.ts'
import { endChains } from '../storage/end-chains.ts'
import type { AuthDeps } from './deps.ts'

const refreshLifetimeS = 14 * 24 * 60 * 60

/** How people sign in and stay signed in. Source: contract sections 3 and 11. */
export function loginHandlers(deps: AuthDeps, secondFactor: SecondFactor): CallHandler[] {
  const { collections, stores, passwords, signer, tokenHash, clock, newId, random, tokenTtlS } = deps
  const { operators, refreshTokens } = collections
  const { people } = stores

  const randomToken = () => Buffer.from(random(32)).toString('base64url')

  /** A token for an hour or so and the cookie that renews it, one link of `family`'s chain. */
  async function signIn(user: UserDocument, family: string) {
    const operator = await operators.findOne({ _id: user.operatorId })
    if (operator === null) throw new ServiceError('INVALID_CREDENTIALS')
    const nowMs = clock.now().getTime()
    const refreshToken = randomToken()
    await refreshTokens.insertOne({
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

  return [
    handler(login, async ({ email, password, totp }) => {
      const user = await people.activeByEmail(email.toLowerCase())
      const matches = await passwords.verify(password, user?.passwordHash ?? null)
      if (user === null || !matches) throw new ServiceError('INVALID_CREDENTIALS')
      if (user.totp?.confirmed === true) {
        if (totp === null) throw codeWanted('is needed: the account uses a second factor')
        if (!(await secondFactor.use(user, totp))) throw codeWanted('is wrong or was used already')
      }
      const now = clock.now()
      await people.noteLogin(user, user._id, now)
      const family = newId('fam')
      const session = await signIn({ ...user, lastLoginAt: now }, family)
      // A change of the password or a removal that ended while the token was made wins.
      if (user.passwordHash === null || !(await people.hasPassword(user, user._id, user.passwordHash))) {
        await endChains(refreshTokens, { family })
        throw new ServiceError('INVALID_CREDENTIALS')
      }
      return session
    }),

    handler(refreshLogin, async ({ refreshToken }) => {
      const candidates = tokenHash.candidates(refreshToken)
      const now = clock.now()
      const taken = await refreshTokens.findOneAndUpdate(
        { _id: { $in: candidates }, usedAt: null, expiresAt: { $gt: now } },
        { $set: { usedAt: now } },
      )
      if (taken === null) {
        // A used token that comes back was copied: whoever holds the newest of this chain is signed out too.
        const reused = await refreshTokens.findOne({ _id: { $in: candidates } })
        if (reused !== null) await endChains(refreshTokens, { family: reused.family })
        throw new ServiceError('INVALID_CREDENTIALS')
      }
      const user = await people.activeById(taken.userId)
      if (user === null) throw new ServiceError('INVALID_CREDENTIALS')
      const session = await signIn(user, taken.family)
      // What ended the chain while this link was made ends the link, too.
      if ((await refreshTokens.findOne({ _id: taken._id })) === null)
        await endChains(refreshTokens, { family: taken.family })
      return session
    }),

    handler(logout, async ({ refreshToken }) => {
      const found = await refreshTokens.findOne({ _id: { $in: tokenHash.candidates(refreshToken) } })
      if (found !== null) await endChains(refreshTokens, { family: found.family })
      return null
    }),

    handler(acceptInvitation, async ({ token, password }) => {
      const parsed = passwordSchema.safeParse(password)
      if (!parsed.success) throw invalidField('password', 'must have 12 to 128 characters')
      const now = clock.now()
      const invitation = tokenHash.candidates(token)
      if ((await people.byInvitation(invitation, now)) === null) throw new ServiceError('INVALID_CREDENTIALS')
      const passwordHash = await passwords.hash(parsed.data)
      const user = await people.accept(invitation, passwordHash, now)
      if (user === null) throw new ServiceError('INVALID_CREDENTIALS')
      if (user.role === 'OWNER')
        await operators.updateOne({ _id: user.operatorId }, { $addToSet: { owners: user._id } })
      const operator = await operators.findOne({ _id: user.operatorId })
      return { user: toPublicUser(user, operator?.owners ?? []) }
    }),
  ]
}

function codeWanted(message: string): ServiceError {
  return new ServiceError('INVALID_CREDENTIALS', { details: [{ path: 'totp', message }] })
}
