import type { Product } from '@pitboss/bench/harness/start-product'
import { until } from '@pitboss/bench/harness/until'

const within = { withinMs: 90_000, everyMs: 250 }
const services = ['gateway', 'auth', 'rounds', 'wallet-bridge', 'webhooks']

/**
 * Waits until each process of the product that has probes runs and is ready.
 * @param leftOut gateways that stand still and are not asked, and others that have to be gone
 */
export async function untilReady(
  product: Pick<Product, 'demo'>,
  leftOut: readonly number[] = [],
): Promise<void> {
  const isReady = async () => {
    for (const { name, pid, http_url: url } of product.demo().processes) {
      const isLeftOut = pid !== null && leftOut.includes(pid)
      if (isLeftOut && name === 'gateway') continue
      if (pid === null || isLeftOut) return false
      if (url === undefined) continue
      const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2000) }).catch(() => null)
      if (answer?.ok !== true && services.includes(name)) return false
    }
    return true
  }
  await until('every process to be ready', isReady, within)
}
