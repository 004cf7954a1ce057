import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import type { Caller } from '@pitboss/contracts/caller'
import * as endpoints from '@pitboss/contracts/endpoints/auth'
import { ServiceError } from '@pitboss/errors/service-error'
import { claimIdempotencyKey, hashBody } from '@pitboss/storage/idempotency-keys'
import type { SecondFactor } from '../actions/second-factor.ts'
import { roleOf, toPublicUser } from '../records/user-view.ts'
import { type UserDocument, untoldChange } from '../storage/documents.ts'
import { endChains } from '../storage/end-chains.ts'
import { isDuplicateKey } from '@pitboss/storage/is-duplicate-key'
import type { AuthDeps } from './deps.ts'

const invitationMs = 72 * 60 * 60 * 1000

/** One's own account and the people of the account. Source: contract section 11. */
export function peopleHandlers(deps: AuthDeps, secondFactor: SecondFactor): CallHandler[] {
  const { collections, stores, passwords, news, tokenHash, clock, newId, random, baseUrl, db } = deps
  const { operators, refreshTokens } = collections
  const { people } = stores

  const ownersOf = async (operatorId: string) => (await operators.findOne({ _id: operatorId }))?.owners ?? []
  const self = async ({ actor, scope }: Caller): Promise<UserDocument> => {
    const user = actor.kind === 'user' ? await people.active(scope, actor.user_id) : null
    if (user === null) throw new ServiceError('INVALID_CREDENTIALS')
    return user
  }
  const selfWithPassword = async (caller: Caller, password: string, path: string) => {
    const user = await self(caller)
    if (await passwords.verify(password, user.passwordHash)) return user
    throw new ServiceError('INVALID_CREDENTIALS', { details: [{ path, message: 'is wrong' }] })
  }
  const member = async ({ scope }: Caller, userId: string) => {
    const user = await people.find(scope, userId)
    if (user === null) throw new ServiceError('NOT_FOUND')
    return user
  }
  /** What is kept to know a repeated body by must not be a quick hash of its password. */
  const withoutPassword = <Body extends { password?: string | undefined }>(body: Body) =>
    body.password === undefined ? body : { ...body, password: tokenHash.hash(body.password) }
  /** Takes ownership from a person unless no other active one has it; one write decides between two such requests. */
  const dropOwner = async (operatorId: string, userId: string) => {
    const owners = await ownersOf(operatorId)
    if (!owners.includes(userId)) return
    // Somebody may have been removed in the very moment in which he became an owner.
    const others = owners.filter((id) => id !== userId)
    const active = await people.activeAmong({ operatorId }, others)
    const gone = others.filter((id) => !active.has(id))
    if (gone.length > 0) await operators.updateOne({ _id: operatorId }, { $pull: { owners: { $in: gone } } })
    const { matchedCount } = await operators.updateOne(
      { _id: operatorId, owners: userId, 'owners.1': { $exists: true } },
      { $pull: { owners: userId }, $set: untoldChange() },
    )
    if (matchedCount === 0 && (await ownersOf(operatorId)).includes(userId)) {
      throw new ServiceError('CONFLICT', { message: 'The last owner can be neither removed nor demoted.' })
    }
  }

  return [
    handler(endpoints.getMe.call, async ({ caller }) => {
      const user = await self(caller)
      return { status: 200, body: toPublicUser(user, await ownersOf(user.operatorId)) }
    }),
    handler(endpoints.changePassword.call, async ({ caller, body }) => {
      const user = await selfWithPassword(caller, body.current_password, 'current_password')
      await people.setPassword(user, user._id, await passwords.hash(body.new_password))
      await endChains(refreshTokens, { userId: user._id })
      return { status: 200, body: toPublicUser(user, await ownersOf(user.operatorId)) }
    }),
    handler(endpoints.enrolTotp.call, async ({ caller }) => {
      const user = await self(caller)
      if (user.totp?.confirmed === true)
        throw new ServiceError('CONFLICT', { message: 'A second factor is in use already; remove it first.' })
      const { secret, otpauthUrl, sealedSecret } = secondFactor.enrol(user)
      await people.enrolTotp(user, user._id, sealedSecret)
      return { status: 200, body: { secret, otpauth_url: otpauthUrl } }
    }),
    handler(endpoints.confirmTotp.call, async ({ caller, body }) => {
      const user = await self(caller)
      if (user.totp === null)
        throw new ServiceError('CONFLICT', { message: 'Start with POST /v1/dashboard/me/totp.' })
      if (user.totp.confirmed)
        throw new ServiceError('CONFLICT', { message: 'The second factor is confirmed already.' })
      const codes = await secondFactor.confirm(user, body.code)
      if (codes === null)
        throw new ServiceError('INVALID_CREDENTIALS', { details: [{ path: 'code', message: 'is wrong' }] })
      return { status: 200, body: { recovery_codes: codes } }
    }),
    handler(endpoints.removeTotp.call, async ({ caller, body }) => {
      const user = await selfWithPassword(caller, body.password, 'password')
      await people.removeTotp(user, user._id)
      return { status: 204, body: null }
    }),

    handler(endpoints.listUsers.call, async ({ caller, query }) => {
      const { rows, nextCursor } = await people.page(caller.scope, query)
      const owners = await ownersOf(caller.scope.operatorId)
      return {
        status: 200,
        body: { data: rows.map((user) => toPublicUser(user, owners)), next_cursor: nextCursor },
      }
    }),

    handler(endpoints.inviteUser.call, async ({ caller, body }) => {
      const now = clock.now()
      const { operatorId } = caller.scope
      const makeId = () => newId('usr')
      const claim =
        caller.idempotencyKey === null
          ? { objectId: makeId(), fresh: true }
          : await claimIdempotencyKey({
              db,
              scope: caller.scope,
              list: 'users',
              key: caller.idempotencyKey,
              bodyHash: hashBody(withoutPassword(body)),
              newId: makeId,
              now,
            })
      const known = claim.fresh ? null : await people.known(caller.scope, claim.objectId)
      if (known !== null) return { status: 201, body: toPublicUser(known, await ownersOf(operatorId)) }
      const invitation = Buffer.from(random(32)).toString('base64url')
      const document: UserDocument = {
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
        await people.insert(document)
      } catch (error) {
        if (!isDuplicateKey(error)) throw error
        const first = await people.known(caller.scope, claim.objectId)
        if (first !== null) return { status: 201, body: toPublicUser(first, await ownersOf(operatorId)) }
        throw new ServiceError('CONFLICT', { message: 'There is a user with this e-mail address already.' })
      }
      if (document.status === 'ACTIVE' && document.role === 'OWNER')
        await operators.updateOne({ _id: operatorId }, { $addToSet: { owners: document._id } })
      const body201 = toPublicUser(document, await ownersOf(operatorId))
      return {
        status: 201,
        body:
          document.invitation === null
            ? body201
            : { ...body201, invite_url: `${baseUrl}/dashboard/invitation#token=${invitation}` },
      }
    }),

    handler(endpoints.patchUser.call, async ({ caller, params, body }) => {
      const user = await member(caller, params.user_id ?? '')
      const { operatorId } = user
      if (body.role !== 'OWNER') await dropOwner(operatorId, user._id)
      const changed = await people.setRole(user, user._id, body.role)
      if (changed === null) throw new ServiceError('NOT_FOUND')
      if (body.role === 'OWNER' && changed.status === 'ACTIVE')
        await operators.updateOne({ _id: operatorId }, { $addToSet: { owners: user._id } })
      await news.user(user._id)
      return { status: 200, body: toPublicUser(changed, await ownersOf(operatorId)) }
    }),

    handler(endpoints.removeUser.call, async ({ caller, params }) => {
      const user = await member(caller, params.user_id ?? '')
      const owners = await ownersOf(user.operatorId)
      if (roleOf(user, owners) === 'OWNER') await dropOwner(user.operatorId, user._id)
      await people.remove(user, user._id)
      await news.user(user._id)
      return { status: 204, body: null }
    }),
  ]
}
