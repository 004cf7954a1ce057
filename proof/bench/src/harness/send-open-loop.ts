import { setTimeout as delay } from 'node:timers/promises'

/**
 * An open loop: each request is sent at its time, whether or not the earlier ones have ended.
 * @returns the rate that was kept
 */
export async function sendOpenLoop(
  total: number,
  perSecond: number,
  send: (number: number) => Promise<void>,
): Promise<number> {
  const fromMs = performance.now()
  const sending: Promise<void>[] = []
  for (let number = 0; number < total; number++) {
    const waitMs = fromMs + (number * 1000) / perSecond - performance.now()
    if (waitMs > 1) await delay(waitMs)
    sending.push(send(number))
  }
  await Promise.all(sending)
  return total / ((performance.now() - fromMs) / 1000)
}
