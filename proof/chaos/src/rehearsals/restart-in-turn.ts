import type { Product } from '@pitboss/bench/harness/start-product'
import { waitFor } from '@pitboss/testing/wait-for'

const replicas = [1, 2]

/**
 * Ends the first replica of each service, waits until another process stands there and is ready, then does
 * the same to the second.
 */
export async function restartInTurn({ demo }: Product, services: readonly string[]): Promise<void> {
  for (const replica of replicas) {
    const find = (name: string) =>
      demo().processes.find((each) => each.name === name && each.replica === replica)
    const former = new Map(services.map((name) => [name, find(name)?.pid]))
    for (const [name, pid] of former) {
      if (typeof pid !== 'number') throw new Error(`there is no replica ${replica} of ${name}`)
      process.kill(pid, 'SIGTERM')
    }
    const isBack = async (name: string) => {
      const { pid, http_url: url } = find(name) ?? { pid: null }
      if (pid === null || pid === former.get(name)) return false
      return (await fetch(`${url}/readyz`)).ok
    }
    await waitFor(async () => (await Promise.all(services.map(isBack))).every(Boolean), {
      timeoutMs: 60_000,
      everyMs: 50,
      what: `replica ${replica} of each service to be back`,
    })
  }
}
