/** The status of a grant at `now`: CANCELLED stays, the others follow from the count and the clock. */
export function grantStatusAt(
  grant: {
    readonly remaining: number
    readonly expiresAt: Date | null
    readonly cancelledAt: Date | null
  },
  now: Date,
): 'ACTIVE' | 'EXHAUSTED' | 'EXPIRED' | 'CANCELLED' {
  if (grant.cancelledAt !== null) return 'CANCELLED'
  if (grant.remaining <= 0) return 'EXHAUSTED'
  return grant.expiresAt !== null && now >= grant.expiresAt ? 'EXPIRED' : 'ACTIVE'
}
