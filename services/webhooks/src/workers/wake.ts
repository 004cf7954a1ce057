import type { Bus } from '@pitboss/bus/connect-bus'
import { eventType } from '@pitboss/contracts/objects/event'
import { z } from 'zod'
import type { NewDelivery } from '../storage/delivery-queue.ts'

export const wakeSubject = 'wake.webhooks.due'

/** More than this is read from the database in due order anyway. */
const freshMax = 256

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
export function createWake(bus: Bus): Wake {
  const encoder = new TextEncoder()
  const send = (message: WakeMessage) => bus.publish(wakeSubject, encoder.encode(JSON.stringify(message)))
  return (webhookIds, fresh = []) => {
    if (webhookIds.length === 0) return
    if (fresh.length === 0 || fresh.length > freshMax) return send({ ids: [...webhookIds], fresh: [] })
    const named = fresh.flatMap(({ _id, webhookId, eventId, createdAt, ...made }) =>
      made.eventType === 'webhook.test'
        ? []
        : [{ _id, webhookId, eventId, eventType: made.eventType, createdAtMs: createdAt.getTime() }],
    )
    const known = new Set(named.map(({ webhookId }) => webhookId))
    send({ ids: webhookIds.filter((id) => !known.has(id)), fresh: named })
  }
}

/** @throws Error when it is no such message. */
export function readWake(data: Uint8Array): WakeMessage {
  return wakeSchema.parse(JSON.parse(new TextDecoder().decode(data)))
}
