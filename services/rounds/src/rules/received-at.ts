import type { CallContext } from '@pitboss/contracts/call'

/** The time at which the request arrived at the HTTP edge; null when the caller does not say. */
export function receivedAt({ receivedAtMs }: CallContext): Date | null {
  return receivedAtMs === undefined ? null : new Date(receivedAtMs)
}
