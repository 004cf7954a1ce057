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
import { singleHeader } from '../input/headers.ts'
import { limiterAddress } from '../access/client-address.ts'
import { hashedKey } from '../limits/limiters.ts'

/**
 * The cookie goes to dashboard routes alone; no script reads it and no other site can have it sent. Source:
 * docs/contract.md, section 3.
 */
const refreshCookie = { name: 'pitboss_refresh', path: '/v1/dashboard' }
/** It names the device to its person's account, as long as the session lasts that its sign-in began. */
const deviceCookie = { name: 'pitboss_device', path: '/v1/dashboard/login' }
const deviceMaxAgeS = 30 * 24 * 60 * 60
const userAgentCharactersMax = 256
const tokenPattern = /^[A-Za-z0-9._~-]{1,512}$/

/**
 * `POST /v1/dashboard/login`. The address was counted before the body. Two limits of the e-mail follow: every
 * try counts for the e-mail from this address, every failure for the e-mail from anywhere. When there are too
 * many failures strangers wait; who comes from a device with a session does not, until as many came from it.
 */
export function createLogin({ bus, limiters, baseUrl }: AnswerDeps) {
  return async function login(inbound: Inbound<z.infer<typeof loginBody>>): Promise<Answer> {
    const { body, admit, context, raw, clientAddress } = inbound
    const email = hashedKey(body.email.toLowerCase())
    admit(limiters.take('loginEmail', `${email} ${limiterAddress(clientAddress)}`))
    const failures = limiters.peek('loginFailures', email)
    const device = readCookie(raw, deviceCookie, baseUrl)
    const ofDevice =
      device === null ? failures : limiters.peek('loginFailures', hashedKey(`device ${device}`))
    if (!failures.allowed) admit(ofDevice)
    const userAgent = singleHeader(raw, 'user-agent')?.slice(0, userAgentCharactersMax) ?? null
    const client = { address: clientAddress, userAgent }
    const known = device === null ? {} : { device, knownDeviceOnly: !failures.allowed }
    const request = { ...body, totp: body.totp ?? null, client, ...known }
    try {
      return signedIn(baseUrl, await bus.call(loginCall, request, context))
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'INVALID_CREDENTIALS') {
        limiters.take('loginFailures', email)
        if (device !== null) limiters.take('loginFailures', hashedKey(`device ${device}`))
      }
      throw error
    }
  }
}

/** `POST /v1/dashboard/refresh`: a new token and a new cookie for the old cookie. */
export function createRefresh({ bus, baseUrl }: AnswerDeps): Handler {
  return async ({ raw, context }) => {
    requireOwnPage(raw)
    const refreshToken = readCookie(raw, refreshCookie, baseUrl)
    if (refreshToken === null) {
      throw new ServiceError('INVALID_CREDENTIALS', { message: 'There is no refresh cookie; sign in.' })
    }
    return signedIn(baseUrl, await bus.call(refreshCall, { refreshToken }, context))
  }
}

/** `POST /v1/dashboard/logout`: ends the session, if there is one, and removes the cookie. */
export function createLogout({ bus, baseUrl }: AnswerDeps): Handler {
  return async ({ raw, context, clientAddress }) => {
    requireOwnPage(raw)
    const refreshToken = readCookie(raw, refreshCookie, baseUrl)
    if (refreshToken !== null) await bus.call(logoutCall, { refreshToken, clientAddress }, context)
    return { status: 204, cookies: [setCookie(refreshCookie, '', 0, baseUrl)] }
  }
}

/** `POST /v1/dashboard/invitations/accept` */
export function createAcceptInvitation({ bus }: AnswerDeps) {
  return async function acceptInvitation({
    body,
    context,
    clientAddress,
  }: Inbound<z.infer<typeof acceptInvitationBody>>): Promise<Answer> {
    return { status: 200, json: await bus.call(acceptCall, { ...body, clientAddress }, context) }
  }
}

function signedIn(baseUrl: string, session: z.infer<typeof loginCall.reply>): Answer {
  const { refreshToken, refreshMaxAgeS, device } = session
  const cookies = [setCookie(refreshCookie, refreshToken, refreshMaxAgeS, baseUrl)]
  if (device !== undefined) cookies.push(setCookie(deviceCookie, device, deviceMaxAgeS, baseUrl))
  return { status: 200, cookies, json: session.body }
}

type Cookie = { name: string; path: string }

/**
 * The name and the rest of a cookie. Under https `__Host-` keeps sibling domains from setting one of its
 * name, which wants the path of the whole host.
 */
function formOf({ name, path }: Cookie, baseUrl: string): { name: string; path: string; secure: string } {
  if (!baseUrl.startsWith('https://')) return { name, path, secure: '' }
  return { name: `__Host-${name}`, path: '/', secure: '; Secure' }
}

/** The Set-Cookie header that hands a token to the browser; `maxAgeS` 0 removes it. */
function setCookie(cookie: Cookie, token: string, maxAgeS: number, baseUrl: string): string {
  const { name, path, secure } = formOf(cookie, baseUrl)
  return `${name}=${token}; Path=${path}; Max-Age=${maxAgeS}; HttpOnly; SameSite=Strict${secure}`
}

/** The token that the browser sent; null for none and for more than one. */
function readCookie(request: IncomingMessage, cookie: Cookie, baseUrl: string): string | null {
  const start = `${formOf(cookie, baseUrl).name}=`
  const values = (request.headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(start))
    .map((pair) => pair.slice(start.length))
  const [token] = values
  return values.length === 1 && token !== undefined && tokenPattern.test(token) ? token : null
}

/**
 * Refuses a request that a page of another origin makes the browser send with its cookie: SameSite lets a
 * sibling domain through. A client without a browser sends neither header.
 * @throws ServiceError FORBIDDEN
 */
function requireOwnPage(request: IncomingMessage): void {
  const site = singleHeader(request, 'sec-fetch-site')
  const origin = singleHeader(request, 'origin')
  const isOwn =
    site === null
      ? origin === null || (URL.canParse(origin) && new URL(origin).host === request.headers.host)
      : site === 'same-origin' || site === 'none'
  if (!isOwn) throw new ServiceError('FORBIDDEN', { message: 'This is for the pages of this service alone.' })
}
