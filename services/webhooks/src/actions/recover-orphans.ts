import type { Clock } from '@pitboss/runtime/clock'
import { placeAfterInterruption } from '../rules/delivery-outcome.ts'
import { placeOf } from '../rules/delivery-place.ts'
import type { DeliveryStore } from '../storage/delivery-store.ts'

/**
 * Makes the deliveries due that dead workers left in flight for the endpoint whose lease has this token.
 * @returns how many these were
 */
export type RecoverOrphans = (webhookId: string, token: number) => Promise<number>

export function createRecoverOrphans({
  deliveries,
  clock,
  scaleMs,
  random,
}: {
  deliveries: DeliveryStore
  clock: Clock
  scaleMs: (ms: number) => number
  random: () => number
}): RecoverOrphans {
  return (webhookId, token) =>
    deliveries.recoverOrphans(webhookId, token, clock.now(), (orphan, sentAt) =>
      placeAfterInterruption({
        place: placeOf(orphan, scaleMs),
        startedAt: sentAt,
        firstAttemptAt: orphan.firstAttemptAt ?? sentAt,
        random: random(),
        scaleMs,
      }),
    )
}
