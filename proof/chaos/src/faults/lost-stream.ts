import { cpSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Product } from '@pitboss/bench/harness/start-product'
import type { Random } from '../random.ts'
import type { FaultCounts } from './fault-counts.ts'
import { findEngines } from './find-processes.ts'

const restMs = { least: 8000, most: 15_000 }
const agedMs = { least: 500, most: 4000 }

/**
 * Takes the broker's disk back to a copy of some seconds ago, now and then, until the run ends: what the
 * stream had acknowledged since is gone, as after a restored backup.
 */
export async function disturbStream({
  product,
  random,
  counts,
  stopping,
  note,
}: {
  product: Product
  random: Random
  counts: FaultCounts
  stopping: AbortSignal
  note: (text: string) => void
}): Promise<void> {
  const folder = join(product.dataDir, 'nats', 'nats')
  const stored = join(folder, 'jetstream')
  const copy = join(folder, 'jetstream-copy')
  const lost = join(folder, 'jetstream-lost')
  const wait = (ms: number) => delay(ms, undefined, { signal: stopping }).catch(() => undefined)
  const server = () => findEngines(product).find(({ name }) => name === 'nats-server')

  while (!stopping.aborted) {
    await wait(random.between(restMs.least, restMs.most))
    if (stopping.aborted) break
    const before = server()
    if (before === undefined) continue
    // A server that stands still writes nothing: the copy is that of one instant.
    process.kill(before.pid, 'SIGSTOP')
    cpSync(stored, copy, { recursive: true })
    process.kill(before.pid, 'SIGCONT')
    await wait(random.between(agedMs.least, agedMs.most))
    const now = server()
    if (now !== undefined) {
      process.kill(now.pid, 'SIGSTOP')
      renameSync(stored, lost)
      renameSync(copy, stored)
      process.kill(now.pid, 'SIGKILL')
      counts.add('stream restored')
      note('the stream is taken back to its copy')
    }
    for (const left of [copy, lost]) rmSync(left, { recursive: true, force: true })
  }
}
