/** A secret of an endpoint. Lists of them are newest first; the newest has no end. */
export type StoredSecret = {
  /** Encrypted. The plain text exists only while it signs or is shown. */
  readonly sealed: string
  readonly createdAt: Date
  /** It signs nothing from then on; null for the present one. */
  readonly validUntil: Date | null
}

const signaturesMax = 3
/** Old secrets serve the hint to a test receiver that still uses one. */
const secretsKept = 5

/** The secrets that sign at `now`, newest first, at most three. Source: docs/contract.md, section 11. */
export function secretsValidAt(secrets: readonly StoredSecret[], now: Date): StoredSecret[] {
  return secrets.filter(({ validUntil }) => validUntil === null || validUntil > now).slice(0, signaturesMax)
}

type Rotation = { readonly sealed: string; readonly now: Date; readonly overlapS: number }

/** The replaced one stays valid for `overlapS` seconds, older ones keep their ends. */
export function rotateSecrets(secrets: readonly StoredSecret[], { sealed, now, overlapS }: Rotation) {
  const end = new Date(now.getTime() + overlapS * 1000)
  const replaced = secrets.map((secret) =>
    secret.validUntil === null ? { ...secret, validUntil: end } : secret,
  )
  const present: StoredSecret = { sealed, createdAt: now, validUntil: null }
  const previousValidUntil = overlapS === 0 ? null : end
  return { secrets: [present, ...replaced].slice(0, secretsKept), previousValidUntil }
}
