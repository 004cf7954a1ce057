import type { Bus } from '@pitboss/bus/connect-bus'
import { eventType } from '@pitboss/contracts/objects/event'
import { z } from 'zod'
import type { NewDelivery } from '../storage/delivery-queue.ts'

export const wakeSubject = 'wake.webhooks.due'

/** Deliveries named in one message, a bit over when the last endpoint has several; a message stays far below what NATS takes. */
const freshPerMessage = 256
/** An endpoint that gets more at once reads them from the database in due order anyway. */
const freshPerEndpoint = 32

/** A delivery that was just made, for its endpoint's worker. */
const freshSchema = z.object({
  _id: z.string(),
  webhookId: z.string(),
  eventId: z.string(),
  eventType,
  createdAtMs: z.number(),
})
const wakeSchema = z.object({ ids: z.array(z.string()), fresh: z.array(freshSchema) })

export type FreshDelivery = z.infer<typeof freshSchema>
export type WakeMessage = z.infer<typeof wakeSchema>
/** `fresh`: everything new that these endpoints have to do, where the caller knows it. */
export type Wake = (webhookIds: readonly string[], fresh?: readonly NewDelivery[]) => void

/**
 * Tells every worker which endpoints have something to do. At most once: the poll finds what a lost message named, and a worker that
 * trusts a message still claims under the database's fence.
 */
export function createWake(bus: Pick<Bus, 'publish'>): Wake {
  const encoder = new TextEncoder()
  const send = (message: WakeMessage) => bus.publish(wakeSubject, encoder.encode(JSON.stringify(message)))
  return (webhookIds, fresh = []) => {
    let message: WakeMessage = { ids: [], fresh: [] }
    const made = Map.groupBy(fresh, ({ webhookId }) => webhookId)
    for (const id of webhookIds) {
      // One endpoint's are never spread over two messages: each is one piece of work at its endpoint.
      const named = (made.get(id) ?? []).flatMap(freshOf)
      if (named.length === 0 || named.length > freshPerEndpoint) message.ids.push(id)
      else message.fresh.push(...named)
      if (message.fresh.length + message.ids.length < freshPerMessage) continue
      send(message)
      message = { ids: [], fresh: [] }
    }
    if (message.fresh.length + message.ids.length > 0) send(message)
  }
}

function freshOf({ _id, webhookId, eventId, eventType: type, createdAt }: NewDelivery): FreshDelivery[] {
  if (type === 'webhook.test') return []
  return [{ _id, webhookId, eventId, eventType: type, createdAtMs: createdAt.getTime() }]
}

/** @throws Error when it is no such message. */
export function readWake(data: Uint8Array): WakeMessage {
  return wakeSchema.parse(JSON.parse(new TextDecoder().decode(data)))
}
