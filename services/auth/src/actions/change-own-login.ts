import type { ActedBy } from '@pitboss/contracts/audit'
import type { Caller } from '@pitboss/contracts/caller'
import type { User } from '@pitboss/contracts/objects/user'
import { conflict, invalidField, ServiceError } from '@pitboss/errors/service-error'
import type { PageQuery } from '@pitboss/storage/read-page'
import { toPublicSession, toPublicUser } from '../records/user-view.ts'
import { requireUncommonPassword } from '../rules/people-rules.ts'
import type { UserDocument } from '../storage/people-store.ts'
import { createCountTries } from './count-tries.ts'
import type { AuthDeps } from './deps.ts'
import { createSecondFactor } from './second-factor.ts'

/**
 * Lets signed-in people see themselves and change their password and second factor.
 * Source: docs/contract.md, section 11.
 */
export function createChangeOwnLogin(deps: AuthDeps) {
  const { stores, passwords, publishAccessChange, audit, takeAudit, clock } = deps
  const { operators, people, refreshTokens } = stores
  const secondFactor = createSecondFactor(deps)
  const tried = createCountTries(deps)
  const toPublic = async (user: UserDocument) => toPublicUser(user, await operators.owners(user))

  /** An entry about the person, who is `after` afterwards. */
  const entry = async (by: ActedBy, act: string, before: UserDocument, after: UserDocument) =>
    audit.entry(by, {
      act,
      object: { type: 'user', id: before._id },
      before: await toPublic(before),
      after: await toPublic(after),
    })

  /** @throws ServiceError INVALID_CREDENTIALS when there is no such active person */
  const self = async ({ actor, scope }: Caller): Promise<UserDocument> => {
    const user = actor.kind === 'user' ? await people.active(scope, actor.user_id) : null
    if (user === null) throw new ServiceError('INVALID_CREDENTIALS')
    return user
  }

  /** Records a wrong password or code of a signed-in person, as a refused sign-in is. */
  const refusal = async (user: UserDocument, by: ActedBy, act: string, path: string, message: string) => {
    const error = new ServiceError('INVALID_CREDENTIALS', { details: [{ path, message }] })
    const object = { type: 'user', id: user._id }
    const after = { code: error.code, lacking: [path] }
    await takeAudit('auth', [audit.entry(by, { act, object, before: null, after })])
    return error
  }

  /**
   * @throws ServiceError INVALID_CREDENTIALS at `path` for a wrong password; RATE_LIMITED after wrong ones
   */
  const selfWithPassword = async (caller: Caller, password: string, path: string, by: ActedBy) => {
    const user = await self(caller)
    const lane = { account: user.operatorId }
    const isRight = () => passwords.verify(password, user.passwordHash, lane)
    if (await tried(user, 'passwordTries', isRight)) return user
    throw await refusal(user, by, 'password.refused', path, 'is wrong')
  }

  /**
   * Uses up a code of the second factor, or a recovery code, where one is in force.
   * @throws ServiceError INVALID_CREDENTIALS at `code`; RATE_LIMITED after wrong codes
   */
  const requireCode = async (user: UserDocument, code: string | undefined, by: ActedBy): Promise<void> => {
    if (user.totp?.confirmed !== true) return
    const message = 'is needed: a code of the second factor, or a recovery code'
    if (code === undefined)
      throw new ServiceError('INVALID_CREDENTIALS', { details: [{ path: 'code', message }] })
    if (await secondFactor.use(user, code, 'known')) return
    throw await refusal(user, by, 'totp.refused', 'code', 'is wrong or was used already')
  }

  /** Publishes that a person's sessions ended; the write that ended them is done. */
  const publishEnd = async (user: UserDocument) => {
    await publishAccessChange.user(user._id)
    await refreshTokens.end({ userId: user._id })
  }

  return {
    show: async (caller: Caller): Promise<User> => toPublic(await self(caller)),

    /** Lists the sessions of the person, newest first. */
    async listSessions(caller: Caller, query: PageQuery) {
      return people.sessionsPage(await self(caller), query, clock.now())
    },

    /** @throws ServiceError NOT_FOUND */
    async endSession(caller: Caller, sessionId: string, by: ActedBy): Promise<void> {
      const user = await self(caller)
      const session = user.sessions?.find(({ id }) => id === sessionId)
      if (session === undefined) throw new ServiceError('NOT_FOUND')
      const object = { type: 'session', id: sessionId }
      const before = toPublicSession(session, undefined)
      const ended = audit.entry(by, { act: 'session.end', object, before, after: null })
      if (!(await people.endSession(user, user._id, sessionId, ended))) throw new ServiceError('NOT_FOUND')
      await publishAccessChange.user(user._id)
      await refreshTokens.end({ family: sessionId })
    },

    /**
     * Sets a new password and ends every session of the person.
     * @throws ServiceError VALIDATION_ERROR for a common password and for the current one
     */
    async changePassword(
      caller: Caller,
      body: { current_password: string; new_password: string },
      by: ActedBy,
    ): Promise<User> {
      const user = await selfWithPassword(caller, body.current_password, 'current_password', by)
      if (body.new_password === body.current_password)
        throw invalidField('new_password', 'must be another than the current one')
      await requireUncommonPassword(body.new_password, 'new_password')
      const after = { ...user, mustChangePassword: false }
      const changed = await entry(by, 'password.change', user, after)
      const hashed = await passwords.hash(body.new_password, { account: user.operatorId })
      await people.setPassword(user, user._id, hashed, changed)
      await publishEnd(user)
      return toPublic(after)
    },

    /**
     * Starts a second factor, which counts after its first code; the password proves who asks.
     * @throws ServiceError CONFLICT when one is in use
     */
    async enrolTotp(caller: Caller, password: string, by: ActedBy) {
      const user = await selfWithPassword(caller, password, 'password', by)
      if (user.totp?.confirmed === true) throw conflict('A second factor is in use already; remove it first.')
      const { secret, otpauthUrl, sealedSecret } = secondFactor.enrol(user)
      await people.enrolTotp(user, user._id, sealedSecret, await entry(by, 'totp.enrol', user, user))
      return { secret, otpauth_url: otpauthUrl }
    },

    /** Confirms the second factor with its first code, makes ten recovery codes and ends every session. */
    async confirmTotp(caller: Caller, code: string, by: ActedBy) {
      const user = await self(caller)
      if (user.totp === null) throw conflict('Start with POST /v1/dashboard/me/totp.')
      if (user.totp.confirmed) throw conflict('The second factor is confirmed already.')
      const after = { ...user, totp: { ...user.totp, confirmed: true } }
      const codes = await secondFactor.confirm(user, code, await entry(by, 'totp.confirm', user, after))
      if (codes === null)
        throw new ServiceError('INVALID_CREDENTIALS', { details: [{ path: 'code', message: 'is wrong' }] })
      await publishEnd(user)
      return { recovery_codes: codes }
    },

    /** Removes the second factor and ends every session; password and code prove who asks. */
    async removeTotp(
      caller: Caller,
      { password, code }: { password: string; code?: string | undefined },
      by: ActedBy,
    ): Promise<void> {
      const user = await selfWithPassword(caller, password, 'password', by)
      await requireCode(user, code, by)
      const removed = await entry(by, 'totp.remove', user, { ...user, totp: null })
      await people.removeTotp(user, user._id, removed)
      await publishEnd(user)
    },
  }
}
