import type { Bus } from '@pitboss/bus/connect-bus'
import { eventType } from '@pitboss/contracts/objects/event'
import { z } from 'zod'
import type { NewDelivery } from '../storage/new-delivery.ts'

const subject = 'wake.webhooks.due'

/**
 * New deliveries in one message, or a few more when the last endpoint has several. NATS takes far larger
 * messages.
 */
const freshPerMessage = 256
/** An endpoint that gets more at once has its worker read them from the database. */
const freshPerEndpoint = 32

/** A delivery that was just created, for its endpoint's worker. */
const freshSchema = z.object({
  _id: z.string(),
  webhookId: z.string(),
  eventId: z.string(),
  eventType,
  createdAtMs: z.number(),
  traceparent: z.string().optional(),
})
const notificationSchema = z.object({ ids: z.array(z.string()), fresh: z.array(freshSchema) })

export type FreshDelivery = z.infer<typeof freshSchema>
/** `fresh` names all the work of its endpoints; the worker of an endpoint in `ids` reads the database. */
export type Notification = z.infer<typeof notificationSchema>
/** @param fresh all the new work of these endpoints, where the caller knows it */
export type NotifyWorkers = (webhookIds: readonly string[], fresh?: readonly NewDelivery[]) => void

/**
 * Notifies every worker of endpoints that have something to do. A message may get lost: the poll finds its
 * endpoints. A worker that trusts a message still claims under the database's fence.
 */
export function createNotifyWorkers(bus: Pick<Bus, 'publish'>): NotifyWorkers {
  const encoder = new TextEncoder()
  const send = (message: Notification) => bus.publish(subject, encoder.encode(JSON.stringify(message)))
  return (webhookIds, fresh = []) => {
    let message: Notification = { ids: [], fresh: [] }
    const byEndpoint = Map.groupBy(fresh, ({ webhookId }) => webhookId)
    for (const id of webhookIds) {
      // One message holds all of an endpoint's deliveries: its worker counts one message as one piece of
      // work.
      const named = (byEndpoint.get(id) ?? []).flatMap(toFresh)
      if (named.length === 0 || named.length > freshPerEndpoint) message.ids.push(id)
      else message.fresh.push(...named)
      if (message.fresh.length + message.ids.length < freshPerMessage) continue
      send(message)
      message = { ids: [], fresh: [] }
    }
    if (message.fresh.length + message.ids.length > 0) send(message)
  }
}

/** Listens to the notifications of all processes. @returns a function that ends it */
export function listenForNotifications(
  bus: Bus,
  onNotification: (notification: Notification) => void,
): () => void {
  const subscription = bus.subscribe(subject, ({ data }) => onNotification(readNotification(data)))
  return () => subscription.unsubscribe()
}

/** What a worker is told of a new delivery; nothing of a test. */
export function toFresh({
  _id,
  webhookId,
  eventId,
  eventType: type,
  createdAt,
  traceparent,
}: NewDelivery): FreshDelivery[] {
  if (type === 'webhook.test') return []
  const trace = traceparent === undefined ? {} : { traceparent }
  return [{ _id, webhookId, eventId, eventType: type, createdAtMs: createdAt.getTime(), ...trace }]
}

/** @throws Error for a message of another shape */
export function readNotification(data: Uint8Array): Notification {
  return notificationSchema.parse(JSON.parse(new TextDecoder().decode(data)))
}
