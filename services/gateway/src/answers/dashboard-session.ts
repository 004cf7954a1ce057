import {
  acceptInvitation as acceptCall,
  login as loginCall,
  logout as logoutCall,
  refreshLogin as refreshCall,
} from '@pitboss/contracts/calls/auth'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Answer, Inbound } from '../http/inbound.ts'
import { hashedKey } from '../limits/hashed-key.ts'
import { acceptBody, loginBody } from '../routes/own-shapes.ts'
import type { HandlerDeps } from './handler-deps.ts'
import { readRefreshCookie, setRefreshCookie } from './refresh-cookie.ts'

/** `POST /v1/dashboard/login`. The address was counted before the body, the e-mail is counted here, right or wrong. */
export async function login(deps: HandlerDeps, inbound: Inbound): Promise<Answer> {
  const { email, password, totp } = loginBody.parse(inbound.body)
  inbound.admit(deps.limiters.take('loginEmail', hashedKey(email.toLowerCase())))
  const request = { email, password, totp: totp ?? null }
  return signedIn(deps, await deps.bus.call(loginCall, request, inbound.context))
}

/** `POST /v1/dashboard/refresh`: a new token and a new cookie for the old cookie. */
export async function refresh(deps: HandlerDeps, inbound: Inbound): Promise<Answer> {
  const refreshToken = readRefreshCookie(inbound.raw)
  if (refreshToken === null) {
    throw new ServiceError('INVALID_CREDENTIALS', { message: 'There is no refresh cookie; sign in.' })
  }
  return signedIn(deps, await deps.bus.call(refreshCall, { refreshToken }, inbound.context))
}

/** `POST /v1/dashboard/logout`: ends the session if there is one and takes the cookie back. */
export async function logout(deps: HandlerDeps, inbound: Inbound): Promise<Answer> {
  const refreshToken = readRefreshCookie(inbound.raw)
  if (refreshToken !== null) await deps.bus.call(logoutCall, { refreshToken }, inbound.context)
  return { status: 204, headers: { 'set-cookie': setRefreshCookie('', 0, deps.baseUrl) } }
}

/** `POST /v1/dashboard/invitations/accept` */
export async function acceptInvitation(deps: HandlerDeps, inbound: Inbound): Promise<Answer> {
  const { token, password } = acceptBody.parse(inbound.body)
  return { status: 200, json: await deps.bus.call(acceptCall, { token, password }, inbound.context) }
}

function signedIn(
  { baseUrl }: HandlerDeps,
  session: { body: unknown; refreshToken: string; refreshMaxAgeS: number },
): Answer {
  const cookie = setRefreshCookie(session.refreshToken, session.refreshMaxAgeS, baseUrl)
  return { status: 200, headers: { 'set-cookie': cookie }, json: session.body }
}
