import { failpoint } from '@pitboss/runtime/failpoint'
import { createSignal } from '@pitboss/runtime/poll'
import type { DueDelivery } from '../storage/collections.ts'
import type { NewDelivery } from '../storage/new-delivery.ts'
import { announceDeliveries, type CreateDeliveries } from './create-deliveries.ts'
import type { Deps } from './deps.ts'

/*
 * Deliveries whose endpoint takes none for now are stored behind those that can be sent, many with one
 * command. Nothing but the stream remembers them until then: their events are acknowledged once they are
 * stored, so that a death has the events come again, and what is missing is made then.
 */

/** A delivery waits to be stored no longer than this, as long as the database keeps up. Source: ours. */
export const deferredMsMax = 1000
/** So many are stored with one command: a larger one holds up what can be sent. Source: ours. */
const groupMax = 100
/** With more than this waiting, new events wait until some are stored. Source: ours. */
const deliveriesMax = 1000
/** As many events may wait for it; the stream gives its consumer a thousand before they are acknowledged. */
const eventsMax = 400

/** Deliveries of one batch of events that are yet to be stored. */
export type Deferred = {
  readonly deliveries: readonly NewDelivery[]
  readonly bodyOf: (delivery: Pick<DueDelivery, 'eventId'>) => string | null
}

export type DeferredDeliveries = {
  /**
   * Stores them behind what can be sent.
   * @param events of the batch, which wait for it
   * @returns once they are stored. Rejects with what the database throws; they must then be looked for again
   */
  add(deferred: Deferred, events: number): Promise<void>
  /** Waits until few enough wait. Never rejects. */
  room(): Promise<void>
  /** Stores all that wait without a pause. Never rejects. */
  drain(): Promise<void>
}

type Held = Deferred & {
  readonly events: number
  readonly atMs: number
  /** Its end: stored, or not for this reason. */
  readonly end: PromiseWithResolvers<void>
}

/** Creates the writer of deferred deliveries; it works while some wait. */
export function createDeferredDeliveries(
  deps: Pick<Deps, 'endpoints' | 'notifyWorkers' | 'clock'> & { createDeliveries: CreateDeliveries },
): DeferredDeliveries {
  const { endpoints, createDeliveries } = deps
  const signal = createSignal()
  let held: readonly Held[] = []
  let working: Promise<void> | null = null
  let draining = 0

  const countOf = (what: 'deliveries' | 'events') =>
    held.reduce((sum, one) => sum + (what === 'events' ? one.events : one.deliveries.length), 0)

  /** For how many milliseconds more the first of them may wait for others. */
  function pauseMs(): number {
    const [first] = held
    if (first === undefined || draining > 0 || countOf('deliveries') >= groupMax) return 0
    return Math.max(0, first.atMs + deferredMsMax - performance.now())
  }

  async function work(): Promise<void> {
    while (held.length > 0) {
      const ms = pauseMs()
      if (ms > 0) {
        await signal.wait(ms)
        continue
      }
      const batches = firstBatches()
      try {
        await store(batches)
        for (const { end } of batches) end.resolve()
      } catch (error) {
        for (const { end } of batches) end.reject(error)
      }
      held = held.slice(batches.length)
    }
    working = null
  }

  /** The batches that come first, until they fill a group. */
  function firstBatches(): readonly Held[] {
    let count = 0
    const next = held.findIndex(({ deliveries }) => {
      count += deliveries.length
      return count >= groupMax
    })
    return next === -1 ? held : held.slice(0, next + 1)
  }

  async function store(batches: readonly Held[]): Promise<void> {
    await failpoint('webhooks.deferred')
    const bodies = new Map<string, Deferred['bodyOf']>()
    for (const { deliveries, bodyOf } of batches) {
      for (const { eventId } of deliveries) bodies.set(eventId, bodyOf)
    }
    const all = batches.flatMap(({ deliveries }) => deliveries)
    for (let start = 0; start < all.length; start += groupMax) {
      const group = all.slice(start, start + groupMax)
      // Read anew: an endpoint that takes deliveries again gets its first ones at once.
      const targets = await endpoints.targets([...new Set(group.map(({ operatorId }) => operatorId))])
      const bodyOf = (one: { eventId: string }) => bodies.get(one.eventId)?.(one) ?? null
      const { untold, stored } = await createDeliveries(group, targets, bodyOf, false)
      await announceDeliveries(deps, untold)
      await stored
    }
    await failpoint('webhooks.deferred-stored')
  }

  return {
    add(deferred, events) {
      const end = Promise.withResolvers<void>()
      held = [...held, { ...deferred, events, atMs: performance.now(), end }]
      working ??= work()
      signal.ring()
      return end.promise
    },

    async room() {
      while (countOf('deliveries') > deliveriesMax || countOf('events') > eventsMax)
        await held[0]?.end.promise.catch(() => undefined)
    },

    async drain() {
      draining += 1
      signal.ring()
      await working
      draining -= 1
    },
  }
}
