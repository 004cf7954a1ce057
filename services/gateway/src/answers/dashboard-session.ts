import type { IncomingMessage } from 'node:http'
import {
  acceptInvitation as acceptCall,
  login as loginCall,
  logout as logoutCall,
  refreshLogin as refreshCall,
} from '@pitboss/contracts/calls/auth'
import type { acceptInvitationBody, loginBody } from '@pitboss/contracts/objects/user'
import { ServiceError } from '@pitboss/errors/service-error'
import type { z } from 'zod'
import type { Answer, AnswerDeps, Handler, Inbound } from '../http/inbound.ts'
import { hashedKey } from '../limits/limiters.ts'

/**
 * The cookie goes to dashboard routes alone; no script reads it and no other site can have it sent. Source:
 * docs/contract.md, section 3.
 */
const cookieName = 'pitboss_refresh'
const cookiePath = '/v1/dashboard'
const tokenPattern = /^[A-Za-z0-9._~-]{1,512}$/

/**
 * `POST /v1/dashboard/login`. The address was counted before the body; the e-mail is counted here, before the
 * password is checked.
 */
export function createLogin({ bus, limiters, baseUrl }: AnswerDeps) {
  return async function login({ body, admit, context }: Inbound<z.infer<typeof loginBody>>): Promise<Answer> {
    admit(limiters.take('loginEmail', hashedKey(body.email.toLowerCase())))
    return signedIn(baseUrl, await bus.call(loginCall, { ...body, totp: body.totp ?? null }, context))
  }
}

/** `POST /v1/dashboard/refresh`: a new token and a new cookie for the old cookie. */
export function createRefresh({ bus, baseUrl }: AnswerDeps): Handler {
  return async ({ raw, context }) => {
    const refreshToken = readRefreshCookie(raw)
    if (refreshToken === null) {
      throw new ServiceError('INVALID_CREDENTIALS', { message: 'There is no refresh cookie; sign in.' })
    }
    return signedIn(baseUrl, await bus.call(refreshCall, { refreshToken }, context))
  }
}

/** `POST /v1/dashboard/logout`: ends the session, if there is one, and removes the cookie. */
export function createLogout({ bus, baseUrl }: AnswerDeps): Handler {
  return async ({ raw, context }) => {
    const refreshToken = readRefreshCookie(raw)
    if (refreshToken !== null) await bus.call(logoutCall, { refreshToken }, context)
    return { status: 204, headers: { 'set-cookie': setRefreshCookie('', 0, baseUrl) } }
  }
}

/** `POST /v1/dashboard/invitations/accept` */
export function createAcceptInvitation({ bus }: AnswerDeps) {
  return async function acceptInvitation({
    body,
    context,
  }: Inbound<z.infer<typeof acceptInvitationBody>>): Promise<Answer> {
    return { status: 200, json: await bus.call(acceptCall, body, context) }
  }
}

function signedIn(
  baseUrl: string,
  session: { body: unknown; refreshToken: string; refreshMaxAgeS: number },
): Answer {
  const cookie = setRefreshCookie(session.refreshToken, session.refreshMaxAgeS, baseUrl)
  return { status: 200, headers: { 'set-cookie': cookie }, json: session.body }
}

/** The Set-Cookie header that hands a refresh token to the browser; `maxAgeS` 0 removes it. */
function setRefreshCookie(token: string, maxAgeS: number, baseUrl: string): string {
  const secure = baseUrl.startsWith('https://') ? '; Secure' : ''
  return `${cookieName}=${token}; Path=${cookiePath}; Max-Age=${maxAgeS}; HttpOnly; SameSite=Strict${secure}`
}

/** The refresh token that the browser sent; null for none and for more than one. */
function readRefreshCookie(request: IncomingMessage): string | null {
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim())
  const values = pairs.filter((pair) => pair.startsWith(`${cookieName}=`))
  const token = values[0]?.slice(cookieName.length + 1)
  return values.length === 1 && token !== undefined && tokenPattern.test(token) ? token : null
}
