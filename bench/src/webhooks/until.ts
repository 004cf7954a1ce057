import { setTimeout as delay } from 'node:timers/promises'

const withinMs = 120_000
const everyMs = 20

/** Waits for a condition. @throws Error naming `what` when it has not come within two minutes. */
export async function until(what: string, met: () => boolean | Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + withinMs
  while (!(await met())) {
    if (performance.now() > deadlineMs) throw new Error(`waited ${withinMs} ms for ${what}`)
    await delay(everyMs)
  }
}
