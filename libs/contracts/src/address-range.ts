import ipaddr from 'ipaddr.js'
import { z } from 'zod'

/** An address with the length of its prefix; a single address has its full length. */
export type AddressRange = readonly [ipaddr.IPv4 | ipaddr.IPv6, number]

type DenyConfig = {
  readonly NODE_ENV: string
  readonly PITBOSS_OUTBOUND_DENY?: readonly AddressRange[] | undefined
}

/** An address or CIDR range, mapped IPv4 as IPv4; null for all else, octal, hex and short spellings too. */
export function parseRange(text: string): AddressRange | null {
  const [address, bits, ...rest] = text.split('/')
  const parsed = parseAddress(address ?? '')
  if (parsed === null || rest.length > 0) return null
  const mapped = parsed.kind() === 'ipv4' && (address ?? '').includes(':')
  const most = parsed.kind() === 'ipv4' ? 32 : 128
  if (bits === undefined) return [parsed, most]
  if (!/^(0|[1-9][0-9]{0,2})$/.test(bits)) return null
  const length = Number(bits) - (mapped ? 96 : 0)
  return length >= 0 && length <= most ? [parsed, length] : null
}

/** A setting: addresses and CIDR ranges, comma separated. Source: ours. */
export const addressRangesSchema = z.string().transform(readRanges)

/** A setting: networks in which nobody is called; `none` says that there are none to name. */
export const outboundDenySchema = z
  .string()
  .transform((text, context) => (text === 'none' ? [] : readRanges(text, context)))
  .optional()

function readRanges(text: string, context: z.RefinementCtx): AddressRange[] {
  return text.split(',').flatMap((part) => {
    const range = parseRange(part.trim())
    if (range !== null) return [range]
    context.addIssue({ code: 'custom', message: 'must be addresses or CIDR ranges, comma separated' })
    return []
  })
}

/**
 * Whether nobody is called at an address, by the setting. Private and reserved addresses need none. In
 * production an installation that says nothing is warned at each start: addresses of its own that are public
 * may then be called.
 */
export function createIsDenied(
  { NODE_ENV, PITBOSS_OUTBOUND_DENY: ranges }: DenyConfig,
  logger: { warn(fields: object, message: string): void },
): (address: string) => boolean {
  if (ranges === undefined && NODE_ENV === 'production')
    logger.warn({ variable: 'PITBOSS_OUTBOUND_DENY', or: 'none' }, 'outbound.deny-missing')
  return (address) => isWithin(address, ranges ?? [])
}

/** Whether `address` lies in one of `ranges`; unreadable ranges hold nothing. */
export function isWithin(address: string, ranges: readonly (AddressRange | string)[]): boolean {
  const parsed = parseAddress(address)
  if (parsed === null) return false
  return ranges.some((entry) => {
    const range = typeof entry === 'string' ? parseRange(entry) : entry
    return range !== null && contains(range, parsed)
  })
}

/** An address, mapped IPv6 as the IPv4 inside, without a zone; null for any other text. */
export function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  if (text.includes(':')) {
    if (text.includes('%')) return parseAddress(text.split('%')[0] ?? '')
    return ipaddr.IPv6.isValid(text) ? ipaddr.process(text) : null
  }
  return ipaddr.IPv4.isValidFourPartDecimal(text) ? ipaddr.IPv4.parse(text) : null
}

function contains([range, bits]: AddressRange, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (range instanceof ipaddr.IPv4) return address instanceof ipaddr.IPv4 && address.match(range, bits)
  return address instanceof ipaddr.IPv6 && address.match(range, bits)
}
