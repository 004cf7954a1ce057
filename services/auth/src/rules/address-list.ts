import { invalidFields } from '@pitboss/errors/service-error'
import { isWithin, parseRange } from '@pitboss/contracts/address-range'

/**
 * Checks the entries of an allowlist and drops repeated ones.
 * Source: docs/contract.md, sections 3 and 12.
 * @throws ServiceError VALIDATION_ERROR at each `ip_allowlist.<index>` that is wrong
 */
export function parseAllowlist(entries: readonly string[]): string[] {
  const details = entries.flatMap((entry, index) => {
    const message = offenceOf(entry)
    return message === null ? [] : [{ path: `ip_allowlist.${index}`, message }]
  })
  if (details.length > 0) throw invalidFields(details)
  return [...new Set(entries)]
}

function offenceOf(entry: string): string | null {
  const range = parseRange(entry)
  if (range === null) return 'must be an IP address or a CIDR range, v4 or v6'
  if (entry.includes('%')) return 'must not have a zone'
  const [, prefixBits] = range
  return prefixBits === 0 ? 'must not hold every address; an empty list does' : null
}

/** Tells whether `address` is on the list; an empty list holds every address. */
export function isAllowed(entries: readonly string[], address: string): boolean {
  return entries.length === 0 || isWithin(address, entries)
}
