import { invalidField } from '@pitboss/errors/service-error'
import ipaddr from 'ipaddr.js'

/** The library also reads octal, hexadecimal and short forms; on an allowlist they would only hide a mistake. */
const dottedDecimal = /^(0|[1-9]\d{0,2})(\.(0|[1-9]\d{0,2})){3}(\/\d{1,2})?$/

/** Checks an allowlist's entries. @throws ServiceError VALIDATION_ERROR at `ip_allowlist.<index>`. Source: contract section 3. */
export function parseAllowlist(entries: readonly string[]): string[] {
  for (const [index, entry] of entries.entries()) {
    const readable = entry.includes(':') || dottedDecimal.test(entry)
    if (!readable || !(entry.includes('/') ? ipaddr.isValidCIDR(entry) : ipaddr.isValid(entry))) {
      throw invalidField(`ip_allowlist.${index}`, 'must be an IP address or a CIDR range, v4 or v6')
    }
  }
  return [...new Set(entries)]
}

/** Whether `address` is on the list; an empty list holds every address. Mapped v6 addresses count as v4. */
export function isAllowed(entries: readonly string[], address: string): boolean {
  if (entries.length === 0) return true
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  return entries.some((entry) => {
    const [range, bits] = entry.includes('/') ? ipaddr.parseCIDR(entry) : [ipaddr.process(entry), null]
    if (bits === null) return parsed.toNormalizedString() === range.toNormalizedString()
    return parsed.kind() === range.kind() && parsed.match(range, bits)
  })
}
