import type { IncomingMessage } from 'node:http'

/**
 * The cookie goes to dashboard routes alone; no script reads it and no other site can have it sent. Source:
 * docs/contract.md, section 3.
 */
const cookieName = 'pitboss_refresh'
const cookiePath = '/v1/dashboard'
const tokenPattern = /^[A-Za-z0-9._~-]{1,512}$/

/** The Set-Cookie header that hands a refresh token to the browser; `maxAgeS` 0 removes it. */
export function setRefreshCookie(token: string, maxAgeS: number, baseUrl: string): string {
  const secure = baseUrl.startsWith('https://') ? '; Secure' : ''
  return `${cookieName}=${token}; Path=${cookiePath}; Max-Age=${maxAgeS}; HttpOnly; SameSite=Strict${secure}`
}

/** The refresh token that the browser sent; null for none and for more than one. */
export function readRefreshCookie(request: IncomingMessage): string | null {
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim())
  const values = pairs.filter((pair) => pair.startsWith(`${cookieName}=`))
  const token = values[0]?.slice(cookieName.length + 1)
  return values.length === 1 && token !== undefined && tokenPattern.test(token) ? token : null
}
