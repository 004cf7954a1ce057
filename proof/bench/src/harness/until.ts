import { setTimeout as delay } from 'node:timers/promises'

const oftenMs = 20
const longMs = 120_000

/**
 * Waits for a condition, two minutes unless told.
 * @throws Error naming `what` when it has not come by then.
 */
export async function until(
  what: string,
  met: () => boolean | Promise<boolean>,
  { everyMs = oftenMs, withinMs = longMs }: { everyMs?: number; withinMs?: number } = {},
): Promise<void> {
  const deadlineMs = performance.now() + withinMs
  while (!(await met())) {
    if (performance.now() > deadlineMs) throw new Error(`waited ${withinMs} ms for ${what}`)
    await delay(everyMs)
  }
}
