import { z } from 'zod'

const DELAY_MS_MAX = 600_000

/** Orders for the receiver instead of answering honestly. */
export const behaviourSchema = z.strictObject({
  status: z.int().min(200).max(599).optional(),
  delay_ms: z.int().min(0).max(DELAY_MS_MAX).optional(),
  /** Sent as the `Retry-After` header, seconds or a date. */
  retry_after: z.union([z.int().min(0), z.string().max(64)]).optional(),
  drop: z.boolean().optional(),
  hang: z.boolean().optional(),
  /** Number of deliveries it holds for; until changed when absent. */
  count: z.int().min(1).optional(),
  path: z.string().optional(),
  type: z.string().optional(),
})
export type Behaviour = z.infer<typeof behaviourSchema>

export type BehaviourSwitch = {
  set(behaviour: Behaviour | null): void
  /** The behaviour in force with how often it was used, or null. */
  current(): (Behaviour & { used: number }) | null
  /** The behaviour for this delivery, counted; null for honest ones. */
  take(delivery: { path: string; type: string | null }): Behaviour | null
}

export function createBehaviourSwitch(): BehaviourSwitch {
  let behaviour: Behaviour | null = null
  let used = 0
  return {
    set(next) {
      behaviour = next
      used = 0
    },
    current: () => (behaviour === null ? null : { ...behaviour, used }),
    take({ path, type }) {
      if (behaviour === null || used >= (behaviour.count ?? Number.POSITIVE_INFINITY)) return null
      if (behaviour.path !== undefined && behaviour.path !== path) return null
      if (behaviour.type !== undefined && behaviour.type !== type) return null
      used += 1
      return behaviour
    },
  }
}
