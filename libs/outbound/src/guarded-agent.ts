import { type LookupAddress, type LookupOptions, lookup } from 'node:dns'
import { isIP, type LookupFunction, Socket } from 'node:net'
import { Agent, buildConnector } from 'undici'
import { isAllowedAddress, type OutboundPolicy } from './address-guard.ts'

/** A connection that was not opened because of where it would have gone. */
export class AddressRefusedError extends Error {
  readonly code = 'ADDRESS_REFUSED'

  constructor(host: string) {
    super(`${host} is, or resolves to, an address that must not be called`)
    this.name = 'AddressRefusedError'
  }
}

export type Resolver = (
  host: string,
  options: LookupOptions & { all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/**
 * An undici agent whose every socket goes to an address that the policy allows. Names are resolved once per
 * connection, all their addresses are checked, and the socket is pinned to a checked one; IP literals, for
 * which no lookup happens, are checked as they are. TLS certificates are always verified, proxies of the
 * environment and HTTP/2 are not used, redirects are not followed.
 * @param connectionsMax sockets per origin
 * @param originsMax origins at a time; more are refused by undici
 */
export function createGuardedAgent({
  policy,
  connectionsMax,
  originsMax,
  connectTimeoutMs,
  keepAliveMs = 10_000,
  resolver = lookup,
  ca,
  onOpening,
}: {
  policy: OutboundPolicy
  connectionsMax: number
  originsMax?: number
  connectTimeoutMs: number
  keepAliveMs?: number
  resolver?: Resolver
  ca?: string
  /** Sees each socket while it is being opened, for the time of its phases. */
  onOpening?: (socket: Socket) => void
}): Agent {
  const connectTo = buildConnector({
    timeout: connectTimeoutMs,
    lookup: guardedLookup(policy, resolver),
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
      const socket: unknown = connectTo(options, callback)
      if (onOpening !== undefined && socket instanceof Socket) onOpening(socket)
    },
  })
}

/**
 * Resolves a name, refuses it when any of its addresses is not allowed, and hands on the checked addresses
 * alone.
 */
function guardedLookup(policy: OutboundPolicy, resolver: Resolver): LookupFunction {
  return (host, options, callback) => {
    resolver(host, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, '', 0)
      const first = addresses[0]
      if (first === undefined || !addresses.every(({ address }) => isAllowedAddress(address, policy))) {
        return callback(new AddressRefusedError(host), '', 0)
      }
      if (options.all === true) return callback(null, addresses)
      return callback(null, first.address, first.family)
    })
  }
}
