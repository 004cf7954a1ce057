import { invalidField } from '@pitboss/errors/service-error'
import { isWithin, parseRange } from '@pitboss/contracts/address-range'

/** Checks an allowlist's entries. @throws ServiceError VALIDATION_ERROR at `ip_allowlist.<index>`. Source: contract section 3. */
export function parseAllowlist(entries: readonly string[]): string[] {
  for (const [index, entry] of entries.entries()) {
    if (parseRange(entry) === null) {
      throw invalidField(`ip_allowlist.${index}`, 'must be an IP address or a CIDR range, v4 or v6')
    }
  }
  return [...new Set(entries)]
}

/** Whether `address` is on the list; an empty list holds every address. */
export function isAllowed(entries: readonly string[], address: string): boolean {
  return entries.length === 0 || isWithin(address, entries)
}
