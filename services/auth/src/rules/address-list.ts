import { invalidField } from '@pitboss/errors/service-error'
import { isWithin, parseRange } from '@pitboss/contracts/address-range'

/**
 * Checks the entries of an allowlist and drops repeated ones.
 * Source: docs/contract.md, sections 3 and 12.
 * @throws ServiceError VALIDATION_ERROR at `ip_allowlist.<index>`
 */
export function parseAllowlist(entries: readonly string[]): string[] {
  for (const [index, entry] of entries.entries()) {
    const offence = offenceOf(entry)
    if (offence !== null) throw invalidField(`ip_allowlist.${index}`, offence)
  }
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
