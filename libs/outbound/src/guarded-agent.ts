import type { LookupAddress } from 'node:dns'
import { callbackify } from 'node:util'
import { isIP, type LookupFunction, Socket } from 'node:net'
import { Agent, buildConnector } from 'undici'
import { normalizeAnswers } from './normalize-answers.ts'
import { isAllowedAddress, type OutboundPolicy } from './address-guard.ts'

/** A connection that was not opened because of where it would have gone. */
export class AddressRefusedError extends Error {
  readonly code = 'ADDRESS_REFUSED'

  constructor(host: string) {
    super(`${host} is, or resolves to, an address that must not be called`)
    this.name = 'AddressRefusedError'
  }
}

/**
 * An undici agent whose every socket goes to an address that the policy allows. Names are resolved once per
 * connection, all their addresses are checked, and the socket is pinned to a checked one; IP literals, for
 * which no lookup happens, are checked as they are. TLS certificates are always verified, proxies of the
 * environment and HTTP/2 are not used, redirects are not followed, heads are read as `normalizeAnswers` does.
 * @param connectionsMax sockets per origin
 * @param originsMax origins at a time; more are refused by undici
 */
export function createGuardedAgent({
  policy,
  connectionsMax,
  originsMax,
  connectTimeoutMs,
  keepAliveMs = 10_000,
  resolve,
  ca,
  onOpening,
}: {
  policy: OutboundPolicy
  connectionsMax: number
  originsMax?: number
  connectTimeoutMs: number
  keepAliveMs?: number
  /** All addresses of a name. Each answer is checked by the policy, kept ones too. */
  resolve: (host: string) => Promise<readonly LookupAddress[]>
  ca?: string
  /** Sees each socket while it is being opened, for the time of its phases. */
  onOpening?: (socket: Socket) => void
}): Agent {
  const connectTo = buildConnector({
    timeout: connectTimeoutMs,
    lookup: guardedLookup(policy, resolve),
    rejectUnauthorized: true,
    allowH2: false,
    ...(ca === undefined ? {} : { ca }),
  })
  return new Agent({
    connections: connectionsMax,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    ...(originsMax === undefined ? {} : { maxOrigins: originsMax }),
    connect(options, callback) {
      const host = options.hostname.replace(/^\[|\]$/g, '')
      if (isIP(host) !== 0 && !isAllowedAddress(host, policy)) {
        callback(new AddressRefusedError(host), null)
        return
      }
      // undici gives the socket back, which its types do not say.
      const socket: unknown = connectTo(options, (...made) => {
        const [, opened] = made
        if (opened instanceof Socket) normalizeAnswers(opened)
        callback(...made)
      })
      if (onOpening !== undefined && socket instanceof Socket) onOpening(socket)
    },
  })
}

/** Hands on the addresses of a name; refuses it when any of them is not allowed. */
function guardedLookup(
  policy: OutboundPolicy,
  resolve: (host: string) => Promise<readonly LookupAddress[]>,
): LookupFunction {
  return (host, options, callback) => {
    const hand = async () => {
      const addresses = await resolve(host)
      if (addresses.length > 0 && addresses.every(({ address }) => isAllowedAddress(address, policy)))
        return addresses
      throw new AddressRefusedError(host)
    }
    callbackify(hand)((error, addresses) => {
      if (error !== null) return callback(error, '', 0)
      const [first] = addresses
      if (options.all === true) callback(null, [...addresses])
      else callback(null, first?.address ?? '', first?.family)
    })
  }
}
