import type { Scope } from '@pitboss/contracts/caller'
import { ownerOf } from '@pitboss/storage/journal/owner-of'
import type { LogEndNote } from '../clients/notify-workers.ts'
import { openNarrowings } from '../rules/put-aside.ts'
import type { DueDelivery, EndpointDocument } from '../storage/collections.ts'
import type { EndpointSummary, TakenEndpoint } from '../storage/endpoint-store.ts'
import type { LoggedEvent } from '../storage/event-log.ts'
import { scopeKey } from '../storage/log-keys.ts'
import { aheadOf } from './pass-events.ts'
import type { Deps } from './deps.ts'

export type { Notification } from '../clients/notify-workers.ts'
export type { DueDelivery, EndpointDocument, EndpointSummary, LogEndNote, LoggedEvent, TakenEndpoint }

/** Whether this instance is the one of those that are alive that delivers to the endpoint. */
export function isOwner(self: string, webhookId: string, alive: readonly string[]): boolean {
  return ownerOf(webhookId, alive) === self
}

/** An account and environment as one text. */
export const accountKey = (scope: Scope): string => scopeKey(scope)

/**
 * Takes an endpoint that no live worker has.
 * @param aliveOthers the instances that are alive, without `self`
 * @returns null when another one was first
 */
export async function takeEndpoint(
  { endpoints }: Pick<Deps, 'endpoints'>,
  { _id, leaseOwner }: EndpointSummary,
  self: string,
  aliveOthers: readonly string[],
): Promise<TakenEndpoint | null> {
  if (leaseOwner !== null && aliveOthers.includes(leaseOwner)) return null
  return endpoints.take(_id, self, aliveOthers, aheadOf)
}

/**
 * Removes narrowings that can cancel nothing any more, since their events are passed. @returns whether it did
 */
export async function forgetNarrowings(
  { endpoints }: Pick<Deps, 'endpoints'>,
  { _id, narrowings = [] }: EndpointDocument,
  cursor: number,
): Promise<boolean> {
  if (openNarrowings(narrowings, cursor).length === narrowings.length) return false
  await endpoints.forgetNarrowings(_id, cursor)
  return true
}

/** The greatest number of each account. */
export function endsOf(events: readonly Pick<LoggedEvent, 'scope' | 'seq'>[]): LogEndNote[] {
  const ends = new Map<string, LogEndNote>()
  for (const { scope, seq } of events) {
    const key = scopeKey(scope)
    ends.set(key, { ...scope, seq: Math.max(seq, ends.get(key)?.seq ?? 0) })
  }
  return [...ends.values()]
}
