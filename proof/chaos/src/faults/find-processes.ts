import { readFileSync } from 'node:fs'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Product } from '@pitboss/bench/harness/start-product'

export type Target = { name: string; replica: number; pid: number }

/** The services, the demo wallet and the receiver that run now. */
export function findServices(product: Pick<Product, 'demo'>): Target[] {
  return product
    .demo()
    .processes.flatMap(({ name, replica, pid }) => (pid === null ? [] : [{ name, replica, pid }]))
}

/** The processes of a service that run now. */
export function pidsOf(product: Pick<Product, 'demo'>, service: string): number[] {
  return findServices(product).flatMap(({ name, pid }) => (name === service ? [pid] : []))
}

/** Sends a signal to every process of a service. @returns which those are */
export function signalAll(product: Pick<Product, 'demo'>, service: string, signal: NodeJS.Signals): number[] {
  const pids = pidsOf(product, service)
  for (const pid of pids) process.kill(pid, signal)
  return pids
}

/**
 * The engine processes that run now, from the records in the data folder: `<pid> <start> <signal> <name>`
 * each.
 */
export function findEngines(product: Pick<Product, 'dataDir'>): Target[] {
  return ['mongodb', 'nats'].flatMap((engine) => {
    const folder = join(product.dataDir, engine)
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .flatMap((entry) => recorded(join(folder, entry.name, 'processes')))
  })
}

function recorded(path: string): Target[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    return []
  }
  return text.split('\n').flatMap((line) => {
    const [pid, , , name] = line.split(' ')
    return pid === undefined || name === undefined ? [] : [{ name, replica: 1, pid: Number(pid) }]
  })
}
