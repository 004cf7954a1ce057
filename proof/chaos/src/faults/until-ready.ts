import { setTimeout as delay } from 'node:timers/promises'
import type { Product } from '@pitboss/bench/harness/start-product'

const withinMs = 90_000
const everyMs = 250
const services = ['gateway', 'auth', 'rounds', 'wallet-bridge', 'webhooks']

/**
 * Waits until each process of the product that has probes runs and is ready.
 * @param leftOut gateways that stand still and are not asked, and others that have to be gone
 */
export async function untilReady(
  product: Pick<Product, 'demo'>,
  leftOut: readonly number[] = [],
): Promise<void> {
  await until(withinMs, 'every process is ready', async () => {
    for (const { name, pid, http_url: url } of product.demo().processes) {
      const isLeftOut = pid !== null && leftOut.includes(pid)
      if (isLeftOut && name === 'gateway') continue
      if (pid === null || isLeftOut) return false
      if (url === undefined) continue
      const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2000) }).catch(() => null)
      if (answer?.ok !== true && services.includes(name)) return false
    }
    return true
  })
}

/** Asks again and again until it is so. @throws Error when it is not within the time */
export async function until(
  withinMs: number,
  what: string | (() => string),
  isTrue: () => Promise<boolean>,
): Promise<void> {
  const fromMs = performance.now()
  while (!(await isTrue())) {
    if (performance.now() - fromMs > withinMs) {
      throw new Error(`not within ${withinMs} ms: ${typeof what === 'string' ? what : what()}`)
    }
    await delay(everyMs)
  }
}
