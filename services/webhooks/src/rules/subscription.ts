import { type EventType, eventType } from '@pitboss/contracts/objects/event'
import { type DeliveredType, type EndpointHealth, isShut } from './endpoint-health.ts'

/** What an endpoint is to get. */
export type Subscription = {
  readonly events: readonly EventType[]
  /** The last time that types were taken off `events`, and the id that a replay job made then would have. */
  readonly narrowed?: { readonly at: Date; readonly replayId: string }
  /** The `narrowed.at` up to which waiting deliveries were cancelled. */
  readonly prunedAt?: Date
  /** Lists of types that took some off: an unsent event up to `to` of another type is cancelled. */
  readonly narrowings?: readonly { readonly to: number; readonly events: readonly EventType[] }[]
  /** Events up to this number that were not sent before the last resume with `skip` are cancelled. */
  readonly skippedTo?: number
}

/** An empty list is all types. */
export const wants = ({ events }: Pick<Subscription, 'events'>, type: EventType) =>
  events.length === 0 || events.includes(type)

/** Whether a change of the list takes off types that the endpoint has; an empty list is all of them. */
export function narrows(before: readonly EventType[], after: readonly EventType[]): boolean {
  if (after.length === 0) return false
  const had = before.length === 0 ? eventType.options : before
  return had.some((type) => !after.includes(type))
}

type Delivered = { eventType: DeliveredType; lane: string; replayId: string | null }

/** Whether a waiting delivery is cancelled: not what was asked for by name, nor of a later replay. */
export function isUnsubscribed({ events, narrowed }: Subscription, delivery: Delivered): boolean {
  const { eventType: type, lane, replayId } = delivery
  if (type === 'webhook.test' || wants({ events }, type) || lane === 'manual') return false
  return replayId === null || (narrowed !== undefined && replayId < narrowed.replayId)
}

/** Up to when the endpoint's waiting deliveries have yet to be pruned; null when nothing is owed. */
export function pruneOwedAt({ narrowed, prunedAt }: Subscription): Date | null {
  if (narrowed === undefined || (prunedAt !== undefined && prunedAt >= narrowed.at)) return null
  return narrowed.at
}

/** Time in the log after which lists show a new delivery. Source: docs/contract.md, section 7. */
export const waitingMsMax = 1000
/** An attempt at a new delivery that takes longer is stored while it is under way. Source: ours. */
export const unstoredMsMax = 250

/** Why a new delivery is stored instead of sent; null when it may be sent, or waits for a place. */
export function asideOf(
  endpoint: Subscription & { readonly deletedAt: Date | null; readonly health: EndpointHealth },
  { seq, type }: { readonly seq: number; readonly type: EventType },
): 'CANCELLED' | 'HELD' | 'PENDING' | null {
  const { health, deletedAt, skippedTo = 0, narrowings = [] } = endpoint
  if (deletedAt !== null || seq <= skippedTo) return 'CANCELLED'
  // A later list took the type off, although a still later one may have it.
  if (narrowings.some(({ to, events }) => seq <= to && !events.includes(type))) return 'CANCELLED'
  // It was recorded for the endpoint while the change of its types was under way.
  if (isUnsubscribed(endpoint, { eventType: type, lane: 'fresh', replayId: null })) return 'CANCELLED'
  if (health.status === 'PAUSED') return 'HELD'
  return isShut(health) ? 'PENDING' : null
}

/** The narrowings that may still cancel something: of events after `cursor`. */
export const openNarrowings = <One extends { readonly to: number }>(all: readonly One[], cursor: number) =>
  all.filter(({ to }) => to > cursor)
