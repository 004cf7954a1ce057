import type { DeliveryDocument } from '../storage/collections.ts'
import type { EventHeader } from '../storage/event-log.ts'
import { deliveriesOf } from '../storage/range-items.ts'
import type { RangeStore } from '../storage/range-store.ts'

/**
 * The deliveries of these events to an endpoint that were accepted at once, by id, and how far the endpoint
 * has passed the log.
 * @param events in the order of the log
 */
export async function itemsAmong(
  ranges: Pick<RangeStore, 'between' | 'endOf'>,
  webhookId: string,
  events: readonly Pick<EventHeader, 'id' | 'seq'>[],
): Promise<{ cursor: number; items: Map<string, DeliveryDocument> }> {
  const [first, last] = [events.at(0), events.at(-1)]
  if (first === undefined || last === undefined) return { cursor: 0, items: new Map() }
  const cursor = (await ranges.endOf(webhookId)) ?? 0
  const ids = new Set(events.map(({ id }) => id))
  const found = (await ranges.between(webhookId, first.seq, last.seq)).flatMap(deliveriesOf)
  return { cursor, items: new Map(found.flatMap((one) => (ids.has(one.eventId) ? [[one._id, one]] : []))) }
}
