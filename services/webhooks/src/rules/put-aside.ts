import type { EventType } from '@pitboss/contracts/objects/event'
import { type EndpointHealth, isShut } from './endpoint-health.ts'
import { isUnsubscribed } from './subscription.ts'

/** Time in the log after which lists show a new delivery. Source: docs/contract.md, section 7. */
export const waitingMsMax = 1000
/** An attempt at a new delivery that takes longer is stored while it is under way. Source: ours. */
export const unstoredMsMax = 250

type Endpoint = {
  readonly deletedAt: Date | null
  readonly health: EndpointHealth
  readonly events: readonly EventType[]
  readonly narrowings?: readonly { readonly to: number; readonly events: readonly EventType[] }[]
  readonly skippedTo?: number
}

type NewEvent = { readonly seq: number; readonly type: EventType }

/** Why a new delivery is stored instead of sent; null when it may be sent, or waits for a place. */
export function asideOf(endpoint: Endpoint, event: NewEvent): 'CANCELLED' | 'HELD' | 'PENDING' | null {
  const { health, deletedAt, skippedTo = 0 } = endpoint
  if (deletedAt !== null || event.seq <= skippedTo || isTakenOff(endpoint, event)) return 'CANCELLED'
  // It was recorded for the endpoint while the change of its types was under way.
  if (isUnsubscribed(endpoint, { eventType: event.type, lane: 'fresh', replayId: null })) return 'CANCELLED'
  if (health.status === 'PAUSED') return 'HELD'
  return isShut(health) ? 'PENDING' : null
}

/** Whether a later list took the type off, although a still later one may have it. */
function isTakenOff({ narrowings = [] }: Endpoint, { seq, type }: NewEvent): boolean {
  return narrowings.some(({ to, events }) => seq <= to && !events.includes(type))
}

/** The narrowings that may still cancel something: of events after `cursor`. */
export function openNarrowings<Narrowing extends { readonly to: number }>(
  narrowings: readonly Narrowing[],
  cursor: number,
): Narrowing[] {
  return narrowings.filter(({ to }) => to > cursor)
}
