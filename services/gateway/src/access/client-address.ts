import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { type AddressRange, isWithin, parseAddress } from '@pitboss/contracts/address-range'
import ipaddr from 'ipaddr.js'

const forwardedMax = 32

/**
 * The client's address: the socket's, or behind a trusted proxy the last one in X-Forwarded-For that is no
 * trusted proxy. Never throws; an unreadable entry ends the search at the proxy that sent it.
 */
export function clientAddress(request: IncomingMessage, trustedProxies: readonly AddressRange[]): string {
  const peer = peerAddress(request.socket)
  if (trustedProxies.length === 0 || !isWithin(peer, trustedProxies)) return peer
  const forwarded = (request.headersDistinct['x-forwarded-for'] ?? []).join(',').split(',')
  let client = peer
  for (const text of forwarded.slice(-forwardedMax).toReversed()) {
    const hop = canonical(text.trim())
    if (hop === null) return client
    client = hop
    if (!isWithin(hop, trustedProxies)) return client
  }
  return client
}

/** The key of an address limiter: a v4 address, or the /64 of a v6 one, which one client has for itself. */
export function limiterAddress(address: string): string {
  const parsed = parseAddress(address)
  if (parsed === null || parsed.kind() === 'ipv4') return address
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`).toString()}/64`
}

/** The address of a connection's other end, in its one form; `unknown` once it is gone. */
export function peerAddress(socket: Pick<Socket, 'remoteAddress'>): string {
  return canonical(socket.remoteAddress ?? '') ?? 'unknown'
}

function canonical(text: string): string | null {
  return parseAddress(text)?.toString() ?? null
}
