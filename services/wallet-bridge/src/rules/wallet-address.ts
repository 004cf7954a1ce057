/** The addresses of a wallet over time. Source: docs/contract.md, sections 3 and 5. */

type Addresses = {
  readonly url: string
  /** Origins of earlier addresses whose ledger the present address serves. */
  readonly formerOrigins?: readonly string[] | undefined
}

/** The origin of a wallet's address: scheme, host and port. @throws TypeError for text that is no url */
export function originOf(url: string): string {
  return new URL(url).origin
}

/**
 * The address for the calls of a movement: that to which it was first sent, as its wallet's own ledger knows
 * it. The present one when it has the same origin or serves the same ledger, and for a movement that names
 * none.
 */
export function addressFor(sentTo: string | undefined, { url, formerOrigins = [] }: Addresses): string {
  if (sentTo === undefined) return url
  const origin = originOf(sentTo)
  return origin === originOf(url) || formerOrigins.includes(origin) ? url : sentTo
}

/**
 * The origins whose ledger the wallet serves after a change of its address: with the same ledger the present
 * ones and that of the present address, with another one none.
 */
export function formerOriginsAfter(present: Addresses, url: string, isSameLedger: boolean): string[] {
  const known = [...(present.formerOrigins ?? []), originOf(present.url)]
  const isMove = originOf(present.url) !== originOf(url)
  const kept = isMove && !isSameLedger ? [] : known
  return [...new Set(kept)].filter((origin) => origin !== originOf(url))
}
