import type { AttemptRecord, DeliveryDocument, RangeDocument, RangeItem } from './collections.ts'
import { never, timingNames } from './collections.ts'
import type { AttemptedDelivery } from './delivery-store.ts'
import { isRare } from './log-append.ts'
import type { AcceptedDelivery } from './range-store.ts'
import { deliveryIdOf, newDocument, orderOf } from './new-delivery.ts'

/** @param items deliveries that were accepted at once, in the order of the log */
export function packItems(
  first: number,
  items: readonly { readonly seq: number; readonly item: AcceptedDelivery }[],
): Pick<RangeDocument, 'lo' | 'hi' | 'url' | 'x' | 'd'> {
  const [one] = items
  if (one === undefined) return {}
  const createdMs = items.map(({ item }) => item.createdAt.getTime())
  const loMs = Math.min(...createdMs)
  const { url = '' } = one.item.attempt
  const rare = [...new Set(items.map(({ item }) => item.eventType))].filter(isRare)
  return {
    lo: new Date(loMs),
    hi: new Date(Math.max(...createdMs)),
    url,
    ...(rare.length === 0 ? {} : { x: rare }),
    d: items.map(({ seq, item }) => packItem(seq - first, item, loMs, url)),
  }
}

function packItem(n: number, item: AcceptedDelivery, loMs: number, rangeUrl: string): RangeItem {
  const { sentAt, durationMs, httpStatus, responseExcerpt, timings, url = rangeUrl } = item.attempt
  return {
    ...{ n, e: item.eventId, t: item.eventType, c: item.createdAt.getTime() - loMs },
    ...{ s: sentAt.getTime() - loMs, d: durationMs ?? 0, h: httpStatus ?? 0 },
    ...(responseExcerpt === null ? {} : { x: responseExcerpt }),
    g: timings === null ? null : timingNames.map((name) => timings[name]),
    ...(url === rangeUrl ? {} : { u: url }),
  }
}

function deliveryOfItem(range: RangeDocument, item: RangeItem): DeliveryDocument {
  const { webhookId, operatorId, environment, at } = range
  const loMs = range.lo?.getTime() ?? 0
  const createdAt = new Date(loMs + item.c)
  const attempt = attemptOfItem(range, item)
  return {
    ...newDocument({
      ...{ _id: deliveryIdOf(item.e, webhookId), operatorId, environment, webhookId },
      ...{ eventId: item.e, eventType: item.t, lane: 'fresh', createdAt },
    }),
    ...{ status: 'DELIVERED', dueAt: never, nextAttemptAt: null, attemptCount: 1, attempts: [attempt] },
    ...{ attemptedAt: at, firstAttemptAt: attempt.sentAt },
    deliveredAt: new Date(attempt.sentAt.getTime() + item.d),
  }
}

function attemptOfItem({ lo, at, url }: RangeDocument, { s, d, h, x, g, u }: RangeItem): AttemptRecord {
  const [dnsMs = null, connectMs = null, tlsMs = null, firstByteMs = null, totalMs] = g ?? []
  return {
    ...{ attempt: 1, sentAt: new Date((lo?.getTime() ?? 0) + s), durationMs: d, httpStatus: h, error: null },
    timings: g === null ? null : { dnsMs, connectMs, tlsMs, firstByteMs, totalMs: totalMs ?? 0 },
    ...{ responseExcerpt: x ?? null, hint: null, url: u ?? url ?? '', storedAt: at },
  }
}

/** A delivery with attempts that figures have counted as items. */
export function countedElsewhere(delivery: DeliveryDocument): DeliveryDocument {
  const attempts = delivery.attempts.map(({ storedAt: _, ...attempt }) => attempt)
  return { ...delivery, attempts }
}

export function attemptsOf(range: RangeDocument): AttemptedDelivery[] {
  const { operatorId, environment, webhookId } = range
  return (range.d ?? []).map((item) => ({
    ...{ operatorId, environment, webhookId, eventType: item.t },
    createdAt: new Date((range.lo?.getTime() ?? 0) + item.c),
    attempts: [attemptOfItem(range, item)],
  }))
}

export function deliveriesOf(range: RangeDocument): DeliveryDocument[] {
  return (range.d ?? []).map((item) => deliveryOfItem(range, item)).toSorted(newestFirst)
}

export function newestFirst(a: Pick<DeliveryDocument, 'order'>, b: Pick<DeliveryDocument, 'order'>): number {
  return Number(a.order < b.order) - Number(a.order > b.order)
}

/**
 * Merges the deliveries of sources, newest first.
 * @param found in an order in which no later source has a delivery that was made after `boundOf` of this one
 */
export async function* inOrder<Source>(
  found: AsyncIterable<Source>,
  boundOf: (source: Source) => Date,
  deliveriesOf: (source: Source) => readonly DeliveryDocument[],
): AsyncGenerator<DeliveryDocument> {
  let waiting: DeliveryDocument[] = []
  for await (const source of found) {
    const bound = orderOf(new Date(boundOf(source).getTime() + 1), '')
    const next = waiting.findIndex(({ order }) => order < bound)
    const ready = next === -1 ? waiting : waiting.slice(0, next)
    yield* ready
    waiting = [...waiting.slice(ready.length), ...deliveriesOf(source)].toSorted(newestFirst)
  }
  yield* waiting
}
