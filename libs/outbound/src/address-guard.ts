import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { type ResolveName, resolveName } from './resolve-name.ts'

/**
 * Addresses that calls may go to. `LIVE`: https to public addresses on port 443 or ≥ 1024. `TEST`: http too,
 * also on port 80. `allowLoopback` also lets loopback addresses through, plain http and any port included,
 * and internal names that resolve to loopback or public addresses; `TEST` has any port then.
 */
export type OutboundPolicy = {
  readonly environment: 'TEST' | 'LIVE'
  readonly allowLoopback: boolean
  /** Addresses that are never called, public and loopback ones included: those of the installation itself. */
  readonly isDenied?: (address: string) => boolean
}

/** The same for both environments. */
export type OutboundSettings = Omit<OutboundPolicy, 'environment'>

export type UrlVerdict =
  | { readonly ok: true; readonly url: URL }
  | { readonly ok: false; readonly reason: string }

const urlCharactersMax = 2048
const internalSuffixes = [
  'localhost',
  'local',
  'localdomain',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'svc',
  'home.arpa',
  'in-addr.arpa',
  'ip6.arpa',
]

/**
 * Judges a url by its text alone; names are not resolved. `reason` is fit for the `details` of a
 * VALIDATION_ERROR. Never throws. Source: docs/contract.md, sections 7 and 11 ("Endpoint urls"), section 6
 * for wallets.
 */
export function checkOutboundUrl(text: string, policy: OutboundPolicy): UrlVerdict {
  if (text.length > urlCharactersMax) return refuse(`must have at most ${urlCharactersMax} characters`)
  if (hasForbiddenCharacter(text)) {
    return refuse('must not contain spaces, control characters or backslashes')
  }
  if (!/^https?:\/\/[^/]/i.test(text)) return refuse('must be an http or https address')
  const url = URL.parse(text)
  if (url === null || url.hostname === '') return refuse('must be an http or https address')
  if (text.includes('#')) return refuse('must not have a fragment')
  if (authorityOf(text).includes('@')) return refuse('must not contain a user name or password')
  if (url.port === '0') return refuse('must have a port above 0')
  const host = hostOf(url)
  if (host === '' || host.length > 253) return refuse('must name a host')
  const literal = isIP(host) === 0 ? null : classifyAddress(host)
  if (literal === 'refused' || (literal !== null && policy.isDenied?.(host) === true))
    return refuse('must not name a private or reserved address')
  if (literal === 'loopback' && !policy.allowLoopback) return refuse('must not name a loopback address')
  if (literal === null && isInternalName(host) && !policy.allowLoopback) {
    return refuse('must be a public name, not an internal one')
  }
  const mayBePlain = policy.environment === 'TEST' || (policy.allowLoopback && isLoopbackHost(host))
  if (url.protocol !== 'https:' && !mayBePlain) return refuse('must be an https address')
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  const isOpen = port === 443 || port >= 1024 || (mayBePlain && (policy.allowLoopback || port === 80))
  if (!isOpen) return refuse(`must use port ${mayBePlain ? '80, ' : ''}443 or a port from 1024`)
  return { ok: true, url }
}

/** As `checkOutboundUrl`, then resolves the name for `account`; an unknown name passes. Never rejects. */
export async function checkOutboundUrlAndResolve(
  text: string,
  policy: OutboundPolicy,
  account: string,
  resolve: ResolveName = resolveName,
): Promise<UrlVerdict> {
  const verdict = checkOutboundUrl(text, policy)
  if (!verdict.ok || isIP(hostOf(verdict.url)) !== 0) return verdict
  const addresses = await resolve(hostOf(verdict.url), account).catch(() => [])
  if (addresses.every(({ address }) => isAllowedAddress(address, policy))) return verdict
  return refuse('resolves to a private, loopback or reserved address')
}

/** Whether a socket may be opened to `address`. */
export function isAllowedAddress(address: string, { allowLoopback, isDenied }: OutboundPolicy): boolean {
  if (isDenied?.(address) === true) return false
  const kind = classifyAddress(address)
  return kind === 'public' || (kind === 'loopback' && allowLoopback)
}

function refuse(reason: string): UrlVerdict {
  return { ok: false, reason }
}

/** Everything up to U+0020, U+007F to U+00A0, and what url parsers silently turn or drop. */
function hasForbiddenCharacter(text: string): boolean {
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    if (code <= 0x20 || (code >= 0x7f && code <= 0xa0) || character === '\\' || /\p{Cf}/u.test(character)) {
      return true
    }
  }
  return false
}

function authorityOf(text: string): string {
  return text.slice(text.indexOf('//') + 2).split(/[/?#]/, 1)[0] ?? ''
}

/** The host without the brackets of IPv6 and without a trailing dot. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
}

function isInternalName(host: string): boolean {
  if (!host.includes('.')) return true
  return internalSuffixes.some((suffix) => host.endsWith(`.${suffix}`))
}

function isLoopbackHost(host: string): boolean {
  if (isIP(host) !== 0) return classifyAddress(host) === 'loopback'
  return host === 'localhost' || host.endsWith('.localhost')
}

/** Class of an address for calls that leave the process. */
type AddressClass = 'public' | 'loopback' | 'refused'

/** Reachable from inside a cloud machine alone, though registries call it public (Azure's platform). */
const metadataAddresses = new Set(['168.63.129.16'])

/**
 * Sorts an IPv4 or IPv6 address: only global unicast is `public`; private, link-local, shared, multicast,
 * reserved, documentation, translation (NAT64, 6to4, Teredo) and metadata addresses are `refused`, as is text
 * that is no address. IPv4-mapped IPv6 counts as the IPv4 address inside. Brackets around IPv6 are allowed.
 * Never throws. Source: docs/contract.md, section 7.
 */
function classifyAddress(text: string): AddressClass {
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
