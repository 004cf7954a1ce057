import { ServiceError } from '@pitboss/errors/service-error'

type SessionTimes = { readonly expiresAt: Date; readonly closedAt: Date | null }

/**
 * A session's status at `now`. It follows from its times and the clock: no write makes a session expire.
 * Source: docs/contract.md, section 4.
 */
export function sessionStatusAt(session: SessionTimes, now: Date): 'ACTIVE' | 'EXPIRED' | 'CLOSED' {
  if (session.closedAt !== null) return 'CLOSED'
  return now >= session.expiresAt ? 'EXPIRED' : 'ACTIVE'
}

/** @throws ServiceError SESSION_CLOSED, SESSION_EXPIRED */
export function assertSessionOpen(session: SessionTimes, now: Date): void {
  const status = sessionStatusAt(session, now)
  if (status === 'CLOSED') throw new ServiceError('SESSION_CLOSED')
  if (status === 'EXPIRED') throw new ServiceError('SESSION_EXPIRED')
}
