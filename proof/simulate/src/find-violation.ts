import { simulate } from './simulate.ts'
import type { Mistake } from './world.ts'

/**
 * Searches seeds 1 to `seedsMax`, from `beginsAt` on and round again, for a run in which the mistake breaks
 * an invariant and the product does not: what the product itself does wrong is no proof that the mistake is
 * noticed. Null when no seed shows it. Source: ours.
 */
export async function findViolation({
  mistake,
  harsh = false,
  beginsAt = 1,
  seedsMax,
}: {
  mistake: Mistake
  harsh?: boolean
  beginsAt?: number | undefined
  seedsMax: number
}): Promise<{ seed: number; violation: string } | null> {
  for (let tries = 0; tries < seedsMax; tries++) {
    const seed = ((beginsAt - 1 + tries) % seedsMax) + 1
    const { violation } = await simulate(seed, { mistake, harsh })
    if (violation === null) continue
    if ((await simulate(seed, { harsh })).violation === null) return { seed, violation }
  }
  return null
}
