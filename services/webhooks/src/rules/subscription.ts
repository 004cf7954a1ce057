import { type EventType, eventType } from '@pitboss/contracts/objects/event'

type Subscription = {
  readonly events: readonly EventType[]
  /** The last time that types were taken off, and the id that a replay job made then would have. */
  readonly narrowed?: { readonly at: Date; readonly replayId: string }
  /** The `narrowed.at` up to which waiting deliveries were cancelled. */
  readonly prunedAt?: Date
}

/** Whether a change of the list takes off types that the endpoint has; an empty list is all of them. */
export function narrows(before: readonly EventType[], after: readonly EventType[]): boolean {
  if (after.length === 0) return false
  const had = before.length === 0 ? eventType.options : before
  return had.some((type) => !after.includes(type))
}

/**
 * Whether a waiting delivery is cancelled as unsubscribed. What a person has asked for by name, and what a
 * later replay sends, goes out all the same. Source: docs/contract.md, section 7.
 */
export function isUnsubscribed(
  { events, narrowed }: Subscription,
  delivery: {
    readonly eventType: EventType | 'webhook.test'
    readonly lane: string
    readonly replayId: string | null
  },
): boolean {
  const { eventType: type, lane, replayId } = delivery
  if (type === 'webhook.test' || events.length === 0 || events.includes(type)) return false
  if (lane === 'manual') return false
  return replayId === null || (narrowed !== undefined && replayId < narrowed.replayId)
}

/** Up to when the endpoint's waiting deliveries have yet to be pruned; null when nothing is owed. */
export function pruneOwedAt({ narrowed, prunedAt }: Subscription): Date | null {
  if (narrowed === undefined || (prunedAt !== undefined && prunedAt >= narrowed.at)) return null
  return narrowed.at
}
