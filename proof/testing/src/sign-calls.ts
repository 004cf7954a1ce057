import type { Bus } from '@pitboss/bus/connect-bus'
import { handler, serveCalls } from '@pitboss/bus/serve-calls'
import type { TokenRule } from '@pitboss/contracts/call-token'
import { type Actor, callerSchema } from '@pitboss/contracts/caller'
import { listPublicKeys } from '@pitboss/contracts/calls/auth'
import type { Audience, TokenClaims } from '@pitboss/contracts/token-claims'
import { newId } from '@pitboss/runtime/new-id'
import { pino } from 'pino'
import { z } from 'zod'
import { claimsFor, newTestKey, signToken } from './sign-token.ts'

/** Signs claims in the place of auth. */
export type Sign = (claims: TokenClaims) => Promise<string>

/** A signing key for a suite without auth, whose public half is served in auth's place. */
export async function serveTestKeys(bus: Bus): Promise<{ sign: Sign; stop: () => Promise<void> }> {
  const key = await newTestKey('test')
  const { stop } = await serveCalls({
    bus,
    service: 'auth',
    version: '1',
    logger: pino({ level: 'silent' }),
    handlers: [handler(listPublicKeys, async () => ({ keys: [key.jwk] }))],
  })
  return { sign: (claims) => signToken(key, claims), stop }
}

/** A bus whose calls carry the token of the caller that their request names, as the gateway's do. */
export function signCalls(bus: Bus, sign: Sign): Bus {
  const signed = new Map<string, Promise<string>>()
  return {
    ...bus,
    async call(call, request, context) {
      if (context?.token !== undefined || 'none' in call.token) return bus.call(call, request, context)
      const asked = withFittingActor(call.token.audiences, request)
      const claims = claimsOf(call.token, asked)
      const name = JSON.stringify({ ...claims, iat: 0, exp: 0, jti: '' })
      const token = signed.get(name) ?? sign(claims)
      signed.set(name, token)
      return bus.call(call, asked, { requestId: newId('req'), ...context, token: await token })
    },
  }
}

const audiences = { credential: 'operator-api', session: 'game-launcher', user: 'dashboard' } as const

/** Claims that bear out the caller whom a request names. */
function claimsOf<Request>(rule: TokenRule<Request>, request: Request): TokenClaims {
  const { operatorIds, environment, actor, subject } = rule.named(request)
  const aud = actor === null ? audienceOf(rule, subject) : audiences[actor.kind]
  const [operatorId] = operatorIds
  if (aud === undefined || typeof operatorId !== 'string') throw new Error('the request names no account')
  const mode = environment === 'LIVE' ? 'LIVE' : 'TEST'
  const { sub, sid } = subject === undefined ? subjectOf(actor) : { sub: subject, sid: undefined }
  return claimsFor(aud, sub, operatorId, { mode, sid })
}

/** A sender that is named by id: a person, else a key. */
function audienceOf<Request>({ audiences: [first] }: TokenRule<Request>, subject: string | undefined) {
  if (subject === undefined) return first
  return subject.startsWith('usr_') ? 'dashboard' : 'operator-api'
}

const calling = z.looseObject({ caller: callerSchema })
const standIns: Readonly<Record<Audience, Actor>> = {
  'operator-api': { kind: 'credential', api_key: 'ck_test_x', scopes: [] },
  'game-launcher': { kind: 'session', session_id: `ses_${'0'.repeat(26)}` },
  dashboard: { kind: 'user', user_id: `usr_${'0'.repeat(26)}`, email: 'a@example.com', role: 'OWNER' },
}

/**
 * Suites ask for one account with one caller. Where a route does not take its kind of token, one of the same
 * account takes its place.
 */
function withFittingActor<Request>(allowed: readonly Audience[], request: Request): Request {
  const parsed = calling.safeParse(request)
  const [first] = allowed
  if (!parsed.success || first === undefined) return request
  const { caller } = parsed.data
  if (allowed.includes(audiences[caller.actor.kind])) return request
  return Object.assign({}, request, { caller: { ...caller, actor: standIns[first] } })
}

function subjectOf(actor: Actor | null): { sub: string; sid?: string | undefined } {
  switch (actor?.kind) {
    case 'credential':
      return { sub: actor.api_key }
    case 'session':
      return { sub: actor.session_id }
    case 'user':
      return { sub: actor.user_id, sid: actor.session_id }
    case undefined:
      return { sub: 'ck_test_x' }
  }
}
