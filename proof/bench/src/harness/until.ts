import { setTimeout as delay } from 'node:timers/promises'

const oftenMs = 20
const longMs = 120_000

/**
 * Waits for a condition, two minutes unless told.
 * @throws Error naming `what` as it is then, when it has not come by then; what the condition throws, at once
 */
export async function until(
  what: string | (() => string),
  met: () => boolean | Promise<boolean>,
  { everyMs = oftenMs, withinMs = longMs }: { everyMs?: number; withinMs?: number } = {},
): Promise<void> {
  const deadlineMs = performance.now() + withinMs
  while (!(await met())) {
    if (performance.now() > deadlineMs)
      throw new Error(`waited ${withinMs} ms for ${typeof what === 'string' ? what : what()}`)
    await delay(everyMs)
  }
}
