import { setTimeout as delay } from 'node:timers/promises'

const pollEveryMs = 20

/**
 * Waits until `condition` gives something other than false, null or undefined, and returns it.
 * @throws Error naming `what` when `timeoutMs` have passed; a condition that throws ends the wait at once.
 */
export async function until<Value>(
  what: string,
  condition: () => Value | Promise<Value>,
  timeoutMs = 10_000,
): Promise<Exclude<Value, false | null | undefined>> {
  const deadlineAtMs = performance.now() + timeoutMs
  for (;;) {
    const value = await condition()
    if (isThere(value)) return value
    if (performance.now() > deadlineAtMs) throw new Error(`waited ${timeoutMs} ms in vain until ${what}`)
    await delay(pollEveryMs)
  }
}

function isThere<Value>(value: Value): value is Exclude<Value, false | null | undefined> {
  return value !== false && value !== null && value !== undefined
}
