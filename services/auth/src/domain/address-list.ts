import { invalidField } from '@pitboss/errors/service-error'
import ipaddr from 'ipaddr.js'

/** Checks an allowlist's entries. @throws ServiceError VALIDATION_ERROR at `ip_allowlist.<index>`. Source: contract section 3. */
export function parseAllowlist(entries: readonly string[]): string[] {
  for (const [index, entry] of entries.entries()) {
    const isRange = entry.includes('/')
    const canonicalV4 =
      !/^[0-9.]+(\/[0-9]+)?$/.test(entry) || /^(\d{1,3}\.){3}\d{1,3}(\/\d{1,2})?$/.test(entry)
    if (!canonicalV4 || !(isRange ? ipaddr.isValidCIDR(entry) : ipaddr.isValid(entry))) {
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
