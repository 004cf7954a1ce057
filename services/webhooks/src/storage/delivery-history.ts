import type { Scope } from '@pitboss/contracts/caller'
import { mapBounded } from '@pitboss/runtime/map-bounded'
import { earliest } from '../rules/choose-due.ts'
import type { DeliveryDocument, EventHeader } from './collections.ts'
import type { AttemptedDelivery, DeliveryFilter, DeliveryStore } from './delivery-store.ts'
import { createLateDeliveries, type LogSources } from './late-deliveries.ts'
import { attemptsOf, deliveriesOf, inOrder, newestFirst } from './range-items.ts'
import { isSameScope } from './log-keys.ts'
import { deliveryIdOf } from './new-delivery.ts'

const orderTimeDigits = 15
const eventPrefix = 'evt_'
const idTimeEnd = 14
/** Candidates of a delivery's id: events that were made in one millisecond, of every account. */
const eventsOfInstantMax = 1000
/** Of each late endpoint, for operations. */
const lateCountedMax = 100_000
const sourcesAtOnce = 8

export type DeliveryHistory = ReturnType<typeof createDeliveryHistory>

type Source = AsyncIterable<DeliveryDocument> | Iterable<DeliveryDocument>

/** Reads documents, items of ranges, and what waits in the log. A document hides what else has its id. */
export function createDeliveryHistory(sources: LogSources & { readonly stored: DeliveryStore }) {
  const { stored, ranges, events } = sources
  const late = createLateDeliveries(sources)

  /** The first `limit` that no document hides. */
  async function takeVisible(items: Source, limit: number) {
    const taken: DeliveryDocument[] = []
    let unchecked: DeliveryDocument[] = []
    const check = async () => {
      const hidden = await stored.existing(unchecked)
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
      if (scope !== null && !isSameScope(event.scope, scope)) continue
      const webhookId = event.targets.find((target) => deliveryIdOf(event.id, target) === id)
      if (webhookId === undefined) continue
      const waiting = await late.ofEvents(event.scope, [event])
      const range = await ranges.passing(webhookId, event.seq)
      const found = range === null ? waiting : deliveriesOf(range)
      return found.find(({ _id }) => _id === id) ?? null
    }
    return null
  }

  async function itemsOfEvents(scope: Scope, headers: readonly EventHeader[]): Promise<DeliveryDocument[]> {
    const wanted = new Set(headers.map(({ id }) => id))
    const times = new Map(headers.map(({ recordedAt }) => [recordedAt.getTime(), recordedAt]))
    const found = await ranges.madeAt(scope, [...times.values()])
    return found.flatMap(deliveriesOf).filter(({ eventId }) => wanted.has(eventId))
  }

  /** Newest first, by their ranges. */
  function itemsOf(scope: Scope | null, filter: DeliveryFilter): AsyncIterable<DeliveryDocument> {
    const { webhookId = null, eventType = null, from = null } = filter
    if (scope === null && webhookId === null)
      return inOrder(ranges.latestStored(), ({ at }) => at, deliveriesOf)
    const found = ranges.newestFirst({ scope, webhookId, eventType, from, to: madeTo(filter) })
    return inOrder(found, ({ hi = new Date(0) }) => hi, deliveriesOf)
  }

  async function listItems(scope: Scope | null, filter: DeliveryFilter, limit: number) {
    const { status = null, eventType = null, eventId = null } = filter
    if ((status !== null && status !== 'DELIVERED') || eventType === 'webhook.test') return []
    if (eventId === null) return takeVisible(only(itemsOf(scope, filter), filter), limit)
    const [event] = await events.headersOf([eventId])
    if (event === undefined) return []
    const items = await itemsOfEvents(scope ?? event.scope, [event])
    return takeVisible(only(items.toSorted(newestFirst), filter), limit)
  }

  async function listLate(scope: Scope | null, filter: DeliveryFilter, limit: number) {
    const { status = null, eventId = null } = filter
    if (status === 'DELIVERED' || status === 'FAILED') return []
    const sources: Source[] =
      eventId === null
        ? await late.list(scope, filter, madeTo(filter))
        : [await late.ofEvents(scope, await events.headersOf([eventId]))]
    const take = (found: Source) => takeVisible(only(found, filter), limit)
    return (await mapBounded(sources, sourcesAtOnce, take)).flat()
  }

  async function find(scope: Scope | null, id: string): Promise<DeliveryDocument | null> {
    const read = () => (scope === null ? stored.read(id) : stored.find(scope, id))
    // It may have become a document between the two.
    return (await read()) ?? (await itemById(scope, id)) ?? read()
  }

  return {
    find: (scope: Scope, id: string) => find(scope, id),
    read: (id: string) => find(null, id),

    /** Newest first, of every account for null. What may become an item or a document is read before. */
    async list(scope: Scope | null, filter: DeliveryFilter, limit: number): Promise<DeliveryDocument[]> {
      const waiting = await listLate(scope, filter, limit)
      const items = await listItems(scope, filter, limit)
      const documents = await stored.list(scope, filter, limit)
      return withoutTwice([...documents, ...items, ...waiting], newestFirst).slice(0, limit)
    },

    async ofEvents(scope: Scope, eventIds: readonly string[], limit: number): Promise<DeliveryDocument[]> {
      const headers = await events.headersOf(eventIds)
      const waiting = await late.ofEvents(scope, headers)
      const found = [...(await itemsOfEvents(scope, headers)), ...waiting]
      const items = await takeVisible(found, Number.POSITIVE_INFINITY)
      const documents = await stored.ofEvents(scope, eventIds, limit)
      return withoutTwice([...documents, ...items], (a, b) => newestFirst(b, a)).slice(0, limit)
    },

    async health(scope: Scope, since: Date, max: number) {
      const reads = [
        stored.health(scope, since, max),
        ranges.hasItems(scope),
        late.count(scope, max),
      ] as const
      const [{ hasDelivered, ...counts }, hasItems, waiting] = await Promise.all(reads)
      return { ...added(counts, waiting, max), failed: counts.failed, hasDelivered: hasDelivered || hasItems }
    },

    /** Of all accounts, with the first new delivery that waits at a late endpoint. */
    async statusCounts() {
      return added(await stored.statusCounts(), await late.count(null, lateCountedMax), Infinity)
    },

    /** The deliveries of every account with an attempt that was stored at `from` or later. */
    async *attemptedSince(from: Date): AsyncGenerator<AttemptedDelivery> {
      yield* stored.attemptedSince(from)
      for await (const range of ranges.storedSince(from)) yield* attemptsOf(range)
    },
  }
}

type Counts = { pending: number; held: number; oldestPendingAt?: Date | null }

function added(one: Counts, other: Counts, max: number): Required<Counts> {
  return {
    pending: Math.min(max, one.pending + other.pending),
    held: Math.min(max, one.held + other.held),
    oldestPendingAt: earliest([one.oldestPendingAt, other.oldestPendingAt]),
  }
}

/** When the newest delivery of the page can have been made; null for at any time. */
function madeTo({ to = null, before = null }: DeliveryFilter): Date | null {
  return before === null ? to : new Date(Number(before.slice(0, orderTimeDigits)))
}

/** Those of the filter, from deliveries that come newest first. */
async function* only(all: Source, filter: DeliveryFilter): AsyncGenerator<DeliveryDocument> {
  for await (const one of all) {
    if (one.createdAt < (filter.from ?? one.createdAt)) return
    const isMeant =
      one.status === (filter.status ?? one.status) &&
      one.webhookId === (filter.webhookId ?? one.webhookId) &&
      one.eventType === (filter.eventType ?? one.eventType) &&
      one.eventId === (filter.eventId ?? one.eventId) &&
      one.createdAt <= (filter.to ?? one.createdAt) &&
      one.order < (filter.before ?? '~')
    if (isMeant) yield one
  }
}

function withoutTwice(all: readonly DeliveryDocument[], order: typeof newestFirst): DeliveryDocument[] {
  return [...new Map(all.toReversed().map((one) => [one._id, one])).values()].toSorted(order)
}
