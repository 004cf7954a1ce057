/** `formerSecret` signs beside `secret` until its time is over. */
type Secrets = {
  readonly secret: string
  readonly formerSecret?: { readonly secret: string; readonly validUntil: Date }
}

/** The secrets of a wallet that are good at `now`, newest first: two while a rotation overlaps. */
export function secretsAt({ secret, formerSecret }: Secrets, now: Date): string[] {
  const isBoth = formerSecret !== undefined && formerSecret.validUntil > now
  return isBoth ? [secret, formerSecret.secret] : [secret]
}
