import type { Clock } from '@pitboss/runtime/clock'
import type { NotifyWorkers } from '../clients/notify-workers.ts'
import type { EndpointStore } from '../storage/endpoint-store.ts'

/** Makes workers look at an endpoint at once: it was changed, or has something to deliver. */
export type MarkDue = (webhookId: string) => Promise<void>

/** The due time is stored, so that the poll finds the endpoint when the notification is lost. */
export function createMarkDue({
  endpoints,
  notifyWorkers,
  clock,
}: {
  endpoints: EndpointStore
  notifyWorkers: NotifyWorkers
  clock: Clock
}): MarkDue {
  return async function markDue(webhookId) {
    await endpoints.lowerDue([webhookId], clock.now())
    notifyWorkers([webhookId])
  }
}
