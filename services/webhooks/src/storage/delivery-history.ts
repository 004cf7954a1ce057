import type { Scope } from '@pitboss/contracts/caller'
import type { DeliveryDocument, RangeDocument, RangeItem } from './collections.ts'
import type { AttemptedDelivery, DeliveryFilter, DeliveryStore } from './delivery-store.ts'
import type { EventLog } from './event-log.ts'
import { attemptsOf, deliveriesOf, deliveryOfItem, newestFirst, orderBefore } from './range-items.ts'
import { firstOf, type RangeStore } from './range-store.ts'
import { deliveryIdOf } from './new-delivery.ts'

const orderTimeDigits = 15
const eventPrefix = 'evt_'
const idTimeEnd = 14
/** Candidates of a delivery's id: events that were made in one millisecond, of every account. */
const eventsOfInstantMax = 1000

/** What lists have to say of deliveries, wherever it is kept. */
export type DeliveryHistory = ReturnType<typeof createDeliveryHistory>

/**
 * Reads all deliveries: those that are documents of their own, and those that were accepted at once, which
 * are items of ranges. A document hides the item of its id: it was sent again.
 */
export function createDeliveryHistory({
  stored,
  ranges,
  events,
}: {
  stored: Pick<
    DeliveryStore,
    'find' | 'read' | 'list' | 'listAnywhere' | 'ofEvents' | 'health' | 'attemptedSince'
  > & {
    present(deliveries: readonly Pick<DeliveryDocument, '_id' | 'webhookId'>[]): Promise<ReadonlySet<string>>
  }
  ranges: RangeStore
  events: Pick<EventLog, 'headersOf' | 'madeAtInstant'>
}) {
  /** The first `limit` that no document hides. */
  async function takeVisible(
    items: AsyncIterable<DeliveryDocument>,
    limit: number,
  ): Promise<DeliveryDocument[]> {
    const taken: DeliveryDocument[] = []
    let unchecked: DeliveryDocument[] = []
    const check = async () => {
      const hidden = await stored.present(unchecked)
      taken.push(...unchecked.filter(({ _id }) => !hidden.has(_id)))
      unchecked = []
    }
    for await (const item of items) {
      unchecked.push(item)
      if (taken.length + unchecked.length < limit) continue
      await check()
      if (taken.length >= limit) return taken
    }
    await check()
    return taken
  }

  async function itemById(scope: Scope | null, id: string): Promise<DeliveryDocument | null> {
    const prefix = `${eventPrefix}${id.slice(eventPrefix.length, idTimeEnd)}`
    for (const event of await events.madeAtInstant(prefix, eventsOfInstantMax)) {
      const { operatorId, environment } = event.scope
      if (scope !== null && (scope.operatorId !== operatorId || scope.environment !== environment)) continue
      const webhookId = event.targets.find((target) => deliveryIdOf(event.id, target, 0) === id)
      if (webhookId === undefined) continue
      const range = await ranges.passing(webhookId, event.seq)
      return range === null ? null : deliveryAt(range, event.seq)
    }
    return null
  }

  async function itemsOfEvents(scope: Scope, eventIds: readonly string[]): Promise<DeliveryDocument[]> {
    const wanted = new Set(eventIds)
    const headers = await events.headersOf(eventIds)
    const times = [...new Set(headers.map(({ recordedAt }) => recordedAt.getTime()))]
    const found = await ranges.madeAt(
      scope,
      times.map((ms) => new Date(ms)),
    )
    return found.flatMap(deliveriesOf).filter(({ eventId }) => wanted.has(eventId))
  }

  /** Newest first, as far as their ranges tell. */
  function itemsOf(scope: Scope | null, filter: DeliveryFilter): AsyncIterable<DeliveryDocument> {
    const { webhookId = null, eventType = null, from = null, to = null, before = null } = filter
    const madeTo = before === null ? to : new Date(Number(before.slice(0, orderTimeDigits)))
    const source =
      scope === null && webhookId === null
        ? inOrder(ranges.latestStored(), ({ at }) => at)
        : inOrder(
            ranges.newestFirst({ scope, webhookId, eventType, from, to: madeTo }),
            ({ hi = new Date(0) }) => hi,
          )
    return only(source, filter)
  }

  async function listItems(
    scope: Scope | null,
    filter: DeliveryFilter,
    limit: number,
  ): Promise<DeliveryDocument[]> {
    const { status = null, eventType = null, eventId = null } = filter
    if ((status !== null && status !== 'DELIVERED') || eventType === 'webhook.test') return []
    if (eventId === null) return takeVisible(itemsOf(scope, filter), limit)
    const [event] = await events.headersOf([eventId])
    if (event === undefined) return []
    const items = await itemsOfEvents(scope ?? event.scope, [eventId])
    return takeVisible(only(toAsync(items.toSorted(newestFirst)), filter), limit)
  }

  const merged = (parts: readonly (readonly DeliveryDocument[])[], limit: number) =>
    parts.flat().toSorted(newestFirst).slice(0, limit)

  return {
    async find(scope: Scope, id: string): Promise<DeliveryDocument | null> {
      return (await stored.find(scope, id)) ?? itemById(scope, id)
    },

    /** For operations: a delivery of any account. */
    async read(id: string): Promise<DeliveryDocument | null> {
      return (await stored.read(id)) ?? itemById(null, id)
    },

    /** Newest first. The items are read first: one that is sent again meanwhile is a document by then. */
    async list(scope: Scope, filter: DeliveryFilter, limit: number): Promise<DeliveryDocument[]> {
      const items = await listItems(scope, filter, limit)
      return withoutTwice(merged([await stored.list(scope, filter, limit), items], 2 * limit)).slice(0, limit)
    },

    /** For operations: `list`, of every account. */
    async listAnywhere(filter: DeliveryFilter, limit: number): Promise<DeliveryDocument[]> {
      const items = await listItems(null, filter, limit)
      return withoutTwice(merged([await stored.listAnywhere(filter, limit), items], 2 * limit)).slice(
        0,
        limit,
      )
    },

    /** The deliveries of these events, oldest first. */
    async ofEvents(scope: Scope, eventIds: readonly string[], limit: number): Promise<DeliveryDocument[]> {
      const items = await takeVisible(toAsync(await itemsOfEvents(scope, eventIds)), Number.POSITIVE_INFINITY)
      const documents = await stored.ofEvents(scope, eventIds, limit)
      return withoutTwice([...documents, ...items])
        .toSorted((a, b) => newestFirst(b, a))
        .slice(0, limit)
    },

    /** `DeliveryStore.health`. */
    async health(scope: Scope, since: Date, max: number) {
      const [found, hasItems] = await Promise.all([stored.health(scope, since, max), ranges.hasItems(scope)])
      return { ...found, hasDelivered: found.hasDelivered || hasItems }
    },

    /** The deliveries of every account with an attempt that was stored at `from` or later. */
    async *attemptedSince(from: Date): AsyncGenerator<AttemptedDelivery> {
      yield* stored.attemptedSince(from)
      for await (const range of ranges.storedSince(from)) yield* attemptsOf(range)
    },
  }
}

/** The delivery of the event with this number, if it is an item. */
function deliveryAt(range: RangeDocument, seq: number): DeliveryDocument | null {
  const item = (range.d ?? []).find(({ n }: RangeItem) => firstOf(range) + n === seq)
  return item === undefined ? null : deliveryOfItem(range, item)
}

/**
 * The deliveries of ranges, newest first.
 * @param found in an order in which no later range has a delivery that was made after `boundOf` of this one
 */
async function* inOrder(
  found: AsyncIterable<RangeDocument>,
  boundOf: (range: RangeDocument) => Date,
): AsyncGenerator<DeliveryDocument> {
  let waiting: DeliveryDocument[] = []
  for await (const range of found) {
    const bound = orderBefore(new Date(boundOf(range).getTime() + 1))
    const next = waiting.findIndex(({ order }) => order < bound)
    const ready = next === -1 ? waiting : waiting.slice(0, next)
    yield* ready
    waiting = [...waiting.slice(ready.length), ...deliveriesOf(range)].toSorted(newestFirst)
  }
  yield* waiting
}

/** Those of the filter, from deliveries that come newest first. */
async function* only(
  all: AsyncIterable<DeliveryDocument>,
  {
    webhookId = null,
    eventType = null,
    eventId = null,
    from = null,
    to = null,
    before = null,
  }: DeliveryFilter,
): AsyncGenerator<DeliveryDocument> {
  for await (const one of all) {
    if (from !== null && one.createdAt < from) return
    const isMeant =
      (webhookId === null || one.webhookId === webhookId) &&
      (eventType === null || one.eventType === eventType) &&
      (eventId === null || one.eventId === eventId) &&
      (to === null || one.createdAt <= to) &&
      (before === null || one.order < before)
    if (isMeant) yield one
  }
}

async function* toAsync<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items
}

/** One of each id, the first. */
function withoutTwice(deliveries: readonly DeliveryDocument[]): DeliveryDocument[] {
  return [...new Map(deliveries.toReversed().map((one) => [one._id, one])).values()].toReversed()
}
