import type { login } from '@pitboss/contracts/calls/auth'
import { operatorHandleOf, operatorIdOf } from '@pitboss/contracts/primitives'
import { ServiceError } from '@pitboss/errors/service-error'
import type { z } from 'zod'
import { toPublicSession, toPublicUser } from '../records/user-view.ts'
import { actedByPerson } from '../rules/acted-by-person.ts'
import type { OperatorDocument } from '../storage/operators-store.ts'
import type { UserDocument, UserSession } from '../storage/people-store.ts'
import type { AuthDeps } from './deps.ts'
import { createSecondFactor } from './second-factor.ts'

const refreshLifetimeS = 14 * 24 * 60 * 60
/** The window in which the gateways count failures. */
const strangersWaitS = 60
const sessionMs = 30 * 24 * 60 * 60 * 1000

type Client = z.infer<typeof login.request>['client']

/** Signs people in, keeps them signed in and signs them out. Source: docs/contract.md, sections 3 and 11. */
export function createLogIn(deps: AuthDeps) {
  const { stores, passwords, publishAccessChange, signer, tokenHash, clock, newId, random } = deps
  const { tokenTtlS, audit, takeAudit, logger } = deps
  const { operators, people, refreshTokens } = stores
  const secondFactor = createSecondFactor(deps)

  /** A session that begins now, and ends 30 days later whatever happens in between. */
  function newSession(id: string, client?: Client, deviceHash?: string): UserSession {
    const now = clock.now()
    const expiresAt = new Date(now.getTime() + sessionMs)
    return {
      id,
      createdAt: now,
      lastUsedAt: now,
      expiresAt,
      clientAddress: client?.address ?? null,
      userAgent: client?.userAgent ?? null,
      ...(deviceHash === undefined ? {} : { deviceHash }),
    }
  }

  /**
   * Makes an access token of a session and the refresh token that renews it; neither outlives the session.
   */
  async function issue(user: UserDocument, sessionId: string, operator: OperatorDocument | null) {
    const expiresAt = user.sessions?.find(({ id }) => id === sessionId)?.expiresAt
    if (operator === null || expiresAt === undefined) throw new ServiceError('INVALID_CREDENTIALS')
    const nowS = Math.floor(clock.now().getTime() / 1000)
    const leftS = Math.max(1, Math.floor(expiresAt.getTime() / 1000) - nowS)
    const refreshMaxAgeS = Math.min(refreshLifetimeS, leftS)
    const lifeS = Math.min(tokenTtlS, leftS)
    const refreshToken = Buffer.from(random(32)).toString('base64url')
    await refreshTokens.insert({
      _id: tokenHash.hash(refreshToken),
      userId: user._id,
      family: sessionId,
      usedAt: null,
      expiresAt: new Date((nowS + refreshMaxAgeS) * 1000),
      sessionEndsAt: expiresAt,
    })
    const access_token = await signer.sign({
      audience: 'dashboard',
      subject: user._id,
      operatorId: user.operatorId,
      mode: 'TEST',
      scopes: [],
      expiresAtS: nowS + lifeS,
      sessionId,
    })
    const body = {
      access_token,
      token_type: 'Bearer' as const,
      expires_in: lifeS,
      user: toPublicUser(user, operator.owners),
    }
    return { body, refreshToken, refreshMaxAgeS }
  }

  /** Ends a session with its tokens of both kinds; an ended session is no error. */
  async function endSession(
    { userId, family }: { userId: string; family: string },
    { act, clientAddress, requestId }: { act: string; clientAddress: string | null; requestId: string },
  ): Promise<void> {
    const user = await people.latest(userId)
    const session = user?.sessions?.find(({ id }) => id === family)
    if (user !== null && session !== undefined) {
      const ended = audit.entry(actedByPerson(user, clientAddress, requestId), {
        act,
        object: { type: 'session', id: family },
        before: toPublicSession(session, undefined),
        after: null,
      })
      if (await people.endSession(user, userId, family, ended)) await publishAccessChange.user(userId)
    }
    await refreshTokens.end({ family })
  }

  /**
   * Writes a refused sign-in into the log of each account that has the person. The answer does not wait for
   * it: its time would tell whether somebody has the address.
   */
  async function recordRefusal(
    { email, operator_id: handle, client }: z.infer<typeof login.request>,
    refusal: { code: string; lacking: string[] },
    requestId: string,
  ): Promise<void> {
    const operatorId = handle === undefined ? null : (operatorIdOf(handle) ?? '')
    const known = await people.activeWithEmail(email.toLowerCase(), operatorId)
    await takeAudit(
      'auth',
      known.map((user) =>
        audit.entry(actedByPerson(user, client?.address ?? null, requestId), {
          act: 'sign-in.refused',
          object: { type: 'user', id: user._id },
          before: null,
          after: refusal,
        }),
      ),
    )
  }

  /** Whether a person has a session that began on the device of this cookie. */
  function knowsDevice(device: string | undefined): (user: UserDocument) => boolean {
    const hashes = device === undefined ? [] : tokenHash.candidates(`device/${device}`)
    const now = clock.now()
    return ({ sessions = [] }) =>
      sessions.some(({ deviceHash = '', expiresAt }) => expiresAt > now && hashes.includes(deviceHash))
  }

  /**
   * Finds the one person whom address and password fit. An unknown address takes as long as a wrong password.
   * @throws ServiceError INVALID_CREDENTIALS; VALIDATION_ERROR at `operator_id` when several accounts fit;
   * RATE_LIMITED for a stranger while known devices alone may sign in
   */
  async function findPerson(request: z.infer<typeof login.request>) {
    const { email, password, operator_id: handle, device, knownDeviceOnly } = request
    const operatorId = handle === undefined ? null : (operatorIdOf(handle) ?? '')
    const lane = { signIn: email.toLowerCase() }
    const all = await people.activeWithEmail(email.toLowerCase(), operatorId)
    const named = knownDeviceOnly === true ? all.filter(knowsDevice(device)) : all
    if (knownDeviceOnly === true && named.length === 0)
      throw new ServiceError('RATE_LIMITED', { retryAfterS: strangersWaitS })
    const fitting: { user: UserDocument; passwordHash: string }[] = []
    for (const user of named) {
      const { passwordHash } = user
      if (passwordHash !== null && (await passwords.verify(password, passwordHash, lane)))
        fitting.push({ user, passwordHash })
    }
    if (named.length === 0) await passwords.verify(password, null, lane)
    const [found] = fitting
    if (found === undefined) throw new ServiceError('INVALID_CREDENTIALS')
    if (fitting.length === 1) return found
    throw new ServiceError('VALIDATION_ERROR', {
      message: 'operator_id: name the account to sign in to',
      details: fitting.map(({ user }) => ({
        path: 'operator_id',
        message: `may be ${operatorHandleOf(user.operatorId)}`,
      })),
    })
  }

  async function signIn(request: z.infer<typeof login.request>, requestId: string) {
    const { password, totp, client } = request
    const { user, passwordHash } = await findPerson(request)
    if (user.totp?.confirmed === true) {
      if (totp === null) throw codeNeeded('is needed: the account uses a second factor')
      const from = knowsDevice(request.device)(user) ? 'known' : 'stranger'
      if (!(await secondFactor.use(user, totp, from))) throw codeNeeded('is wrong or was used already')
    }
    const operator = await operators.find(user)
    if (operator?.suspended === true) throw new ServiceError('OPERATOR_SUSPENDED')
    const device = Buffer.from(random(32)).toString('base64url')
    const session = newSession(newId('fam'), client, tokenHash.hash(`device/${device}`))
    // A change of the password or a removal since the person was read wins, one from here on ends the
    // session.
    const began = audit.entry(actedByPerson(user, session.clientAddress, requestId), {
      act: 'sign-in.done',
      object: { type: 'session', id: session.id },
      before: null,
      after: toPublicSession(session, undefined),
    })
    const signedIn = await people.startSession(user, user._id, passwordHash, session, began)
    if (signedIn === null) throw new ServiceError('INVALID_CREDENTIALS')
    if (passwords.isOutdated(passwordHash)) {
      const rehashed = await passwords.hash(password, { signIn: user.email })
      await people.rehash(user, user._id, passwordHash, rehashed)
    }
    return { ...(await issue(signedIn, session.id, operator)), device }
  }

  return {
    /**
     * Signs a person in. Each try is a line of the log, with the e-mail address as a keyed hash.
     * @throws ServiceError INVALID_CREDENTIALS, with a detail at `totp` when only the second factor is
     * missing or wrong; RATE_LIMITED after wrong codes; OPERATOR_SUSPENDED;
     * VALIDATION_ERROR at `operator_id` when the password fits in several accounts
     */
    async logIn(request: z.infer<typeof login.request>, requestId: string) {
      const email_hash = tokenHash.hash(`e-mail/${request.email.toLowerCase()}`)
      const line = { email_hash, client_address: request.client?.address ?? null }
      try {
        const signedIn = await signIn(request, requestId)
        logger.info({ ...line, user_id: signedIn.body.user.user_id }, 'sign-in.done')
        return signedIn
      } catch (error) {
        const refusal = error instanceof ServiceError ? error : new ServiceError('INTERNAL_ERROR')
        const lacking = refusal.details?.map(({ path }) => path) ?? []
        logger.info({ ...line, code: refusal.code, lacking }, 'sign-in.refused')
        if (refusal.code === 'INVALID_CREDENTIALS') {
          recordRefusal(request, { code: refusal.code, lacking }, requestId).catch((err: unknown) =>
            logger.warn({ err }, 'sign-in.refusal-not-recorded'),
          )
        }
        throw error
      }
    },

    /**
     * Exchanges a refresh token for the next one of its session.
     * @throws ServiceError INVALID_CREDENTIALS for an unknown, expired or used token, or when the session has
     * ended or the person is not active
     */
    async refresh(refreshToken: string, requestId: string) {
      const hashes = tokenHash.candidates(refreshToken)
      const now = clock.now()
      const used = await refreshTokens.use(hashes, now)
      if (used === null) {
        // Somebody copied a token that comes back after its use: the session ends for its thief and its
        // owner.
        const reused = await refreshTokens.find(hashes)
        if (reused !== null)
          await endSession(reused, { act: 'session.reused', clientAddress: null, requestId })
        throw new ServiceError('INVALID_CREDENTIALS')
      }
      const { userId, family, sessionEndsAt } = used
      const user =
        (await people.renewSession(userId, family, now)) ??
        (sessionEndsAt === undefined ? await people.adoptSession(userId, newSession(family)) : null)
      if (user === null) throw new ServiceError('INVALID_CREDENTIALS')
      const issued = await issue(user, family, await operators.find(user))
      // A request that ended the session in the meantime ends the new token, too.
      if ((await refreshTokens.find([used._id])) === null)
        await endSession(used, { act: 'session.end', clientAddress: null, requestId })
      return issued
    },

    /** Ends the session of a refresh token; an unknown token is no error. */
    async logOut(refreshToken: string, clientAddress: string | null, requestId: string): Promise<void> {
      const found = await refreshTokens.find(tokenHash.candidates(refreshToken))
      if (found !== null) await endSession(found, { act: 'sign-out', clientAddress, requestId })
    },
  }
}

function codeNeeded(message: string): ServiceError {
  return new ServiceError('INVALID_CREDENTIALS', { details: [{ path: 'totp', message }] })
}
