import { ServiceError } from '@pitboss/errors/service-error'
import type { AddressRange } from '@pitboss/contracts/address-range'
import type { IncomingMessage } from 'node:http'
import type { AccessState } from '../access/access-state.ts'
import { clientAddress, limiterAddress } from '../access/client-address.ts'
import { identify, type Identity } from '../access/identify.ts'
import type { Limiters } from '../limits/limiters.ts'
import type { LoadGauge } from '../limits/load-gauge.ts'
import type { BodyIntake } from '../limits/body-intake.ts'
import type { Places } from '@pitboss/runtime/places'
import type { Verdict } from '../limits/rate-counter.ts'
import type { Metrics } from '../metrics.ts'
import type { RouteEntry } from '../routes/route-entry.ts'
import type { Answer, Attribution, Handler, Inbound } from './inbound.ts'
import type { BodyRules } from '../input/read-body.ts'
import { isSettlement, readInput } from '../input/read-input.ts'
import { onwardTraceparent } from './trace-request.ts'
import { errorAnswer } from './send.ts'

export type ServeDeps = {
  readonly access: AccessState
  readonly limiters: Limiters
  readonly gauge: LoadGauge
  /** Hears of requests that found no place. */
  readonly metrics: Pick<Metrics, 'refused'>
  readonly intake: BodyIntake
  /** Places at work, of an account and of an address. */
  readonly places: { readonly account: Places; readonly address: Places }
  readonly trustedProxies: readonly AddressRange[]
  readonly bodyTimeoutMs: number
  /** The handler of a row of the route table in this gateway. */
  readonly handlerOf: (entry: RouteEntry) => Handler
}

/** The result of one request. */
export type Served = {
  readonly answer: Answer
  readonly error: unknown
  readonly attribution: Attribution | null
  readonly clientAddress: string
}

/**
 * Takes one routed request through the checks to its answer, in the order of docs/contract.md, section 1:
 * route, token, audience, account, address, scope or role, rate, body, resource. Never throws: every failure
 * becomes an answer.
 */
export async function serveRequest(
  deps: ServeDeps,
  {
    entry,
    raw,
    params,
    requestId,
  }: {
    entry: RouteEntry
    raw: IncomingMessage
    params: Readonly<Record<string, string>>
    requestId: string
  },
): Promise<Served> {
  const headers: Record<string, string> = {}
  const address = clientAddress(raw, deps.trustedProxies)
  let attribution: Attribution | null = null
  const show = ({ limit, remaining, resetS }: Verdict) => {
    headers['ratelimit-limit'] = String(limit)
    headers['ratelimit-remaining'] = String(remaining)
    headers['ratelimit-reset'] = String(resetS)
  }
  const admit = (verdict: Verdict) => {
    show(verdict)
    if (!verdict.allowed) throw new ServiceError('RATE_LIMITED', { retryAfterS: verdict.retryAfterS })
  }
  const served = (answer: Answer, error: unknown): Served => ({
    answer: { ...answer, headers: { ...headers, ...answer.headers } },
    error,
    attribution,
    clientAddress: address,
  })
  let leave = deps.gauge.enter()
  let leavePlaces: (() => void)[] = []
  try {
    requirePossiblePath(params)
    if (entry.limit !== 'body') requireRoom(deps, entry)
    const identity =
      entry.access === null
        ? null
        : await identify({
            request: raw,
            access: entry.access,
            mayLack: entry.mayLack,
            state: deps.access,
            clientAddress: address,
            onClaims({ aud, op, mode, sub }) {
              if (aud === 'operator-api') attribution = { operatorId: op, mode, apiKey: sub }
            },
          })
    limitBeforeBody(deps.limiters, entry, identity, address, admit)
    // A request that waits for its client is no load.
    leave()
    const input = await readInput({ entry, raw, params, rules: bodyRules(deps, entry, address) }).catch(
      (error: unknown) => {
        // Counted, but the answer still names the mistake in the body.
        if (entry.limit === 'body' && identity !== null) show(takeFor(deps.limiters, identity))
        throw error
      },
    )
    leave = deps.gauge.enter()
    const settles = entry.shed === 'never' || (entry.limit === 'body' && isSettlement(input.body))
    if (entry.limit === 'body' && identity !== null && !settles) {
      admit(takeFor(deps.limiters, identity))
      requireRoom(deps, entry)
    }
    const taken = takePlaces(deps, entry, identity, address)
    if (taken === null && !settles) throw noPlace(deps)
    leavePlaces = taken ?? []
    const traceparent = onwardTraceparent(raw)
    const context = {
      requestId,
      ...(traceparent === undefined ? {} : { traceparent }),
      ...(identity === null ? {} : { token: identity.token }),
      // Settlement is never refused for places: it is stored and answered at once.
      ...(taken === null ? { atOnce: true } : {}),
    }
    const inbound: Inbound = {
      entry,
      raw,
      context,
      clientAddress: address,
      identity,
      ...input,
      admit,
      attribute: (to) => {
        attribution = to
      },
    }
    return served(await deps.handlerOf(entry)(inbound), null)
  } catch (error) {
    return served(errorAnswer(error, requestId), error)
  } finally {
    leave()
    for (const leavePlace of leavePlaces) leavePlace()
  }
}

function requirePossiblePath(params: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(params)) {
    // a session of an earlier release may have any player id, and whoever plays can be stopped
    const isPossible = name === 'player_id' || !hasControlCharacter(value)
    if (!isPossible || (value === '' && name !== '*')) throw new ServiceError('NOT_FOUND')
  }
}

/** A body that may settle money is never given up for others. */
function bodyRules({ bodyTimeoutMs, intake }: ServeDeps, entry: RouteEntry, address: string): BodyRules {
  const staysAnyway = entry.shed === 'never' || entry.limit === 'body'
  return {
    timeoutMs: bodyTimeoutMs,
    begin: (giveUp) => (staysAnyway ? () => undefined : intake.begin(limiterAddress(address), giveUp)),
  }
}

/**
 * Takes the places at work of a request: of the account behind its token, and of the address of a player or
 * of a client without a token. Probes and static files take none. Null when the client has all of its own
 * taken.
 */
function takePlaces(
  { places }: ServeDeps,
  entry: RouteEntry,
  identity: Identity | null,
  address: string,
): (() => void)[] | null {
  if (identity === null && entry.limit === 'exempt') return []
  const ofAddress = identity === null || identity.audience === 'game-launcher'
  const taken = [
    ...(identity === null ? [] : [places.account.take(identity.operatorId)]),
    ...(ofAddress ? [places.address.take(limiterAddress(address))] : []),
  ]
  const held = taken.filter((leave) => leave !== null)
  if (held.length === taken.length) return held
  for (const leave of held) leave()
  return null
}

function noPlace({ metrics }: ServeDeps): ServiceError {
  metrics.refused('places')
  const message = 'Too many requests of yours are at work.'
  return new ServiceError('SERVICE_UNAVAILABLE', { message, retryAfterS: 1 })
}

function requireRoom({ gauge, metrics }: ServeDeps, entry: RouteEntry): void {
  if (!gauge.sheds(entry.shed)) return
  metrics.refused('load')
  throw new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1 })
}

function limitBeforeBody(
  limiters: Limiters,
  entry: RouteEntry,
  identity: Identity | null,
  address: string,
  admit: (verdict: Verdict) => void,
): void {
  if (entry.limit === 'mintAddress' || entry.limit === 'loginAddress' || entry.limit === 'address') {
    admit(limiters.take(entry.limit, limiterAddress(address)))
  } else if (entry.limit === 'counted' && identity !== null) admit(takeFor(limiters, identity))
}

/** Counts a request for its key, session or person; keys and people count for their account, too. */
function takeFor(limiters: Limiters, { actor, operatorId }: Identity): Verdict {
  if (actor.kind === 'session') return limiters.take('launcher', actor.session_id)
  const ofAccount = limiters.peek('account', operatorId)
  if (!ofAccount.allowed) return ofAccount
  const own =
    actor.kind === 'credential'
      ? limiters.take('operator', actor.api_key)
      : limiters.take('dashboard', actor.user_id)
  if (own.allowed) limiters.take('account', operatorId)
  return own
}

/** Finds characters that a path cannot hold. Source: docs/contract.md, section 11. */
function hasControlCharacter(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < 0x20 || code === 0x7f) return true
  }
  return false
}
