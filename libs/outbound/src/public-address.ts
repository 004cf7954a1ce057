import ipaddr from 'ipaddr.js'

/** Class of an address for calls that leave the process. */
export type AddressClass = 'public' | 'loopback' | 'refused'

/**
 * Reachable from inside a cloud machine alone although the registries call it public (Azure's platform
 * address).
 */
const metadataAddresses = new Set(['168.63.129.16'])

/**
 * Sorts an IPv4 or IPv6 address: only global unicast is `public`; private, link-local, shared, multicast,
 * reserved, documentation, translation (NAT64, 6to4, Teredo) and metadata addresses are `refused`, as is text
 * that is no address. IPv4-mapped IPv6 counts as the IPv4 address inside. Brackets around IPv6 are allowed.
 * Never throws. Source: docs/contract.md, section 7.
 */
export function classifyAddress(text: string): AddressClass {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text
  if (!ipaddr.IPv4.isValidFourPartDecimal(bare) && !ipaddr.IPv6.isValid(bare)) return 'refused'
  const address = ipaddr.process(bare)
  const range = address.range()
  if (range === 'loopback') return isPlainLoopback(address) ? 'loopback' : 'refused'
  if (range !== 'unicast' || metadataAddresses.has(address.toString())) return 'refused'
  return address instanceof ipaddr.IPv6 && !isGlobalUnicast(address) ? 'refused' : 'public'
}

/** 127.0.0.0/8 and ::1, not the deprecated ::127.0.0.1. */
function isPlainLoopback(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return address instanceof ipaddr.IPv4 || address.toString() === '::1'
}

/** IANA has handed out 2000::/3 alone for global unicast; addresses outside are no public hosts. */
function isGlobalUnicast(address: ipaddr.IPv6): boolean {
  return ((address.parts[0] ?? 0) & 0xe000) === 0x2000
}
