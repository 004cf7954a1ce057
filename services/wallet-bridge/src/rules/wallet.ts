/** The addresses of a wallet over time. Source: docs/contract.md, sections 3 and 5. */

type Addresses = {
  readonly url: string
  /** Origins of earlier addresses whose ledger the present address serves. */
  readonly formerOrigins?: readonly string[] | undefined
}

/** The origin of a wallet's address: scheme, host and port. @throws TypeError for text that is no url */
export const originOf = (url: string): string => new URL(url).origin

/** The address to which a movement was first sent, or the present one when it serves the same ledger. */
export function addressFor(sentTo: string | undefined, { url, formerOrigins = [] }: Addresses): string {
  if (sentTo === undefined) return url
  const origin = originOf(sentTo)
  return origin === originOf(url) || formerOrigins.includes(origin) ? url : sentTo
}

/** The origins whose ledger the wallet serves after a change of its address. */
export function formerOriginsAfter(present: Addresses, url: string, isSameLedger: boolean): string[] {
  const known = [...(present.formerOrigins ?? []), originOf(present.url)]
  const isMove = originOf(present.url) !== originOf(url)
  const kept = isMove && !isSameLedger ? [] : known
  return [...new Set(kept)].filter((origin) => origin !== originOf(url))
}

/** `formerSecret` signs beside `secret` until its time is over. */
export type Secrets = {
  readonly secret: string
  readonly formerSecret?: { readonly secret: string; readonly validUntil: Date }
}

/** The secrets of a wallet that are good at `now`, newest first: two while a rotation overlaps. */
export function secretsAt({ secret, formerSecret }: Secrets, now: Date): string[] {
  const isBoth = formerSecret !== undefined && formerSecret.validUntil > now
  return isBoth ? [secret, formerSecret.secret] : [secret]
}
