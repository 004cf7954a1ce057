/** A session's status follows from its times and the clock; nothing has to happen for it to expire. Contract section 4. */
export function sessionStatusAt(
  session: { readonly expiresAt: Date; readonly closedAt: Date | null },
  now: Date,
): 'ACTIVE' | 'EXPIRED' | 'CLOSED' {
  if (session.closedAt !== null) return 'CLOSED'
  return now >= session.expiresAt ? 'EXPIRED' : 'ACTIVE'
}
