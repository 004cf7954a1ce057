import { type Scope, scopeOf } from '@pitboss/contracts/caller'
import { mapBounded } from '@pitboss/runtime/map-bounded'
import type { DeliveryDocument, EndpointDocument, EventHeader } from './collections.ts'
import { earliest } from '../rules/choose-due.ts'
import { asideOf } from '../rules/subscription.ts'
import type { DeliveryFilter } from './delivery-store.ts'
import type { EndpointStore } from './endpoint-store.ts'
import type { EventLog } from './event-log.ts'
import { asideAs, newDueOf } from './new-delivery.ts'
import { inOrder } from './range-items.ts'
import type { RangeStore } from './range-store.ts'

const lookupsAtOnce = 8

export type LogSources = {
  readonly endpoints: EndpointStore
  readonly ranges: RangeStore
  readonly events: EventLog
}

/** Reads deliveries that are only in the log. Lists of many events ask only the endpoints that are late. */
export function createLateDeliveries({ endpoints, ranges, events }: LogSources) {
  /** Reads of each endpoint after the place to which it has come. */
  const each = <Result>(
    found: readonly EndpointDocument[],
    read: (endpoint: EndpointDocument, place: Parameters<EventLog['countFor']>[0]) => Promise<Result>,
  ) =>
    mapBounded(found, lookupsAtOnce, async (endpoint) => {
      const { _id: webhookId, beginsAfter = 0 } = endpoint
      const afterSeq = (await ranges.endOf(webhookId)) ?? beginsAfter
      return read(endpoint, { ...scopeOf(endpoint), webhookId, afterSeq })
    })

  return {
    /** The deliveries of each endpoint, newest first. @param to made at this time or earlier */
    async list(scope: Scope | null, filter: DeliveryFilter, to: Date | null) {
      const { webhookId, eventType = null } = filter
      if (eventType === 'webhook.test') return []
      const found = await each(await endpoints.late(scope), async (endpoint, place) => {
        if (place.webhookId !== (webhookId ?? place.webhookId)) return []
        const newest = events.newestFor(place, eventType, to)
        const made = (event: EventHeader) => [deliveryTo(endpoint)(event)]
        // The log does not order by their ids what was recorded at one moment, as lists do.
        return [inOrder(newest, ({ recordedAt }) => recordedAt, made)]
      })
      return found.flat()
    },

    /** The deliveries of these events that are neither documents nor items, or are just becoming one. */
    async ofEvents(scope: Scope | null, headers: readonly EventHeader[]): Promise<DeliveryDocument[]> {
      const targets = new Set(headers.flatMap((event) => event.targets))
      if (targets.size === 0) return []
      const present = await endpoints.ofIds(scope, [...targets])
      const found = await each(present, async (endpoint, { webhookId, afterSeq }) =>
        headers
          .filter(({ seq, targets }) => seq > afterSeq && targets.includes(webhookId))
          .map(deliveryTo(endpoint)),
      )
      return found.flat()
    },

    /** How many there are, counted up to `max` of each endpoint, and when the first pending one was made. */
    async count(scope: Scope | null, max: number) {
      const late = (await endpoints.late(scope)).filter(({ deletedAt }) => deletedAt === null)
      const found = await each(late, async ({ health, events: types, skippedTo = 0 }, place) => {
        const afterSeq = Math.max(place.afterSeq, skippedTo)
        const { count, first } = await events.countFor({ ...place, afterSeq }, types, max)
        return { isHeld: health.status === 'PAUSED', count, madeAt: first?.recordedAt }
      })
      const pending = found.filter(({ isHeld }) => !isHeld)
      const sum = (counts: readonly { count: number }[]) => counts.reduce((all, { count }) => all + count, 0)
      const oldestPendingAt = earliest(pending.map(({ madeAt }) => madeAt))
      return { pending: sum(pending), held: sum(found) - sum(pending), oldestPendingAt }
    },
  }
}

/** The delivery as it will be stored, if it is. */
const deliveryTo = (endpoint: EndpointDocument) => (event: EventHeader) =>
  asideAs(newDueOf(endpoint._id, event), asideOf(endpoint, event) ?? 'PENDING')
