import type { Wallet } from '../storage/wallet-document.ts'

/** The secrets of a wallet that are good at `now`, newest first: two while a rotation overlaps. */
export function secretsAt(
  { secret, formerSecret }: Pick<Wallet, 'secret' | 'formerSecret'>,
  now: Date,
): string[] {
  const isBoth = formerSecret !== undefined && formerSecret.validUntil > now
  return isBoth ? [secret, formerSecret.secret] : [secret]
}
