import type { acceptInvitation } from '@pitboss/contracts/calls/auth'
import type { Caller, Role } from '@pitboss/contracts/caller'
import { password as passwordSchema, type User } from '@pitboss/contracts/objects/user'
import { ServiceError, invalidField } from '@pitboss/errors/service-error'
import { isDuplicateKey } from '@pitboss/storage/create-once'
import type { z } from 'zod'
import { toPublicUser } from '../records/user-view.ts'
import type { UserDocument } from '../storage/people-store.ts'
import type { AuthDeps } from './deps.ts'

const invitationMs = 72 * 60 * 60 * 1000

type NewUser = { email: string; name: string; role: Role; password?: string | undefined }

/**
 * Adds people to an account: by a password at once, or by an invitation of 72 h.
 * Source: docs/contract.md, section 11.
 */
export function createInviteUser({ stores, passwords, tokenHash, clock, newId, random, baseUrl }: AuthDeps) {
  const { idempotency, operators, people } = stores
  const toPublic = async (user: UserDocument) => toPublicUser(user, await operators.owners(user))

  return {
    /**
     * Adds a person once for each Idempotency-Key. A person without a password gets an `invite_url`, which
     * only the first answer holds.
     * @throws ServiceError CONFLICT for an e-mail address that any account uses
     */
    async invite(caller: Caller, body: NewUser): Promise<User> {
      const now = clock.now()
      const { operatorId } = caller.scope
      const claim = await idempotency.claim(caller, {
        list: 'users',
        // The key is kept with a quick hash of the body, which must not be one of the password.
        body: body.password === undefined ? body : { ...body, password: tokenHash.hash(body.password) },
        newId: () => newId('usr'),
        now,
      })
      const known = claim.fresh ? null : await people.known(caller.scope, claim.objectId)
      if (known !== null) return toPublic(known)
      const invitation = Buffer.from(random(32)).toString('base64url')
      const user: UserDocument = {
        _id: claim.objectId,
        operatorId,
        email: body.email.toLowerCase(),
        name: body.name,
        role: body.role,
        status: body.password === undefined ? 'INVITED' : 'ACTIVE',
        passwordHash: body.password === undefined ? null : await passwords.hash(body.password),
        totp: null,
        recoveryHashes: [],
        invitation:
          body.password === undefined
            ? { hash: tokenHash.hash(invitation), expiresAt: new Date(now.getTime() + invitationMs) }
            : null,
        createdAt: now,
        lastLoginAt: null,
        accessPending: false,
      }
      try {
        await people.insert(user)
      } catch (error) {
        if (!isDuplicateKey(error)) throw error
        const first = await people.known(caller.scope, claim.objectId)
        if (first !== null) return toPublic(first)
        throw new ServiceError('CONFLICT', { message: 'There is a user with this e-mail address already.' })
      }
      if (user.status === 'ACTIVE' && user.role === 'OWNER') await operators.addOwner(user, user._id)
      const added = await toPublic(user)
      return user.invitation === null
        ? added
        : { ...added, invite_url: `${baseUrl}/dashboard/invitation#token=${invitation}` }
    },

    /**
     * Makes an invited person active.
     * @throws ServiceError VALIDATION_ERROR at `password`; INVALID_CREDENTIALS for an unknown, expired or
     * used invitation
     */
    async accept({ token, password }: z.infer<typeof acceptInvitation.request>): Promise<User> {
      const parsed = passwordSchema.safeParse(password)
      if (!parsed.success) throw invalidField('password', 'must have 12 to 128 characters')
      const now = clock.now()
      const invitation = tokenHash.candidates(token)
      if ((await people.byInvitation(invitation, now)) === null) throw new ServiceError('INVALID_CREDENTIALS')
      const passwordHash = await passwords.hash(parsed.data)
      const user = await people.accept(invitation, passwordHash, now)
      if (user === null) throw new ServiceError('INVALID_CREDENTIALS')
      if (user.role === 'OWNER') await operators.addOwner(user, user._id)
      return toPublic(user)
    },
  }
}
