import type { Bus } from '@pitboss/bus/connect-bus'
import { eventEnvironment } from '@pitboss/contracts/primitives'
import { z } from 'zod'
import type { EndpointStore } from '../storage/endpoint-store.ts'

const subject = 'wake.webhooks.due'

/**
 * What the workers of all processes are notified of. `ids`: endpoints that are new or changed, or have stored
 * work; `ends`: accounts whose logs have come to a number; `leaving`: instances that take no more endpoints.
 */
const notificationSchema = z.object({
  ids: z.array(z.string()),
  ends: z.array(z.object({ operatorId: z.string(), environment: eventEnvironment, seq: z.int() })),
  leaving: z.array(z.string()),
})

export type Notification = z.infer<typeof notificationSchema>
export type LogEndNote = Notification['ends'][number]

type Notifier = { readonly bus: Pick<Bus, 'publish'> }
type Counter = { readonly endpoints: Pick<EndpointStore, 'countWork'> }

/** A message may get lost: the dispatcher compares with the database from time to time. */
export function notifyWorkers(
  { bus }: Notifier,
  { ids = [], ends = [], leaving = [] }: Partial<Notification>,
) {
  if (ids.length + ends.length + leaving.length === 0) return
  bus.publish(subject, Buffer.from(JSON.stringify({ ids, ends, leaving })))
}

/** Listens to the notifications of all processes. @returns a function that ends it */
export function listenForNotifications(bus: Bus, onNotification: (notification: Notification) => void) {
  const subscription = bus.subscribe(subject, ({ data }) => onNotification(readNotification(data)))
  return () => subscription.unsubscribe()
}

/** @throws Error for a message of another shape */
export function readNotification(data: Uint8Array): Notification {
  return notificationSchema.parse(JSON.parse(Buffer.from(data).toString()))
}

/** Makes an endpoint's worker see it at once. The work is counted, in case the notification is lost. */
export async function markDue(c: Notifier & Counter, webhookId: string): Promise<void> {
  await c.endpoints.countWork(webhookId)
  notifyWorkers(c, { ids: [webhookId] })
}
