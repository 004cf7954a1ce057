import { isWithin, parseAddress } from '@pitboss/contracts/address-range'

/**
 * The entries of an allowlist that let an address in, by the rule that the service follows; null for text
 * that is no address. Source: docs/contract.md, section 3.
 */
export function rulesFor(address: string, allowlist: readonly string[]): readonly string[] | null {
  if (parseAddress(address) === null) return null
  return allowlist.filter((rule) => isWithin(address, [rule]))
}
