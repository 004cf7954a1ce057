import { cpSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Product } from '@pitboss/bench/harness/start-product'
import { type Disturber, disturbRepeatedly, rest } from './disturber.ts'
import { findEngines } from './find-processes.ts'

const restMs = { least: 8000, most: 15_000 }
const agedMs = { least: 500, most: 4000 }

/**
 * Takes the broker's disk back to a copy of some seconds ago, now and then, until the run ends: what the
 * stream had acknowledged since is gone, as after a restored backup.
 */
export async function disturbStream({ product, ...given }: Disturber & { product: Product }): Promise<void> {
  const { random, counts, stopping, note } = given
  const folder = join(product.dataDir, 'nats', 'nats')
  const stored = join(folder, 'jetstream')
  const copy = join(folder, 'jetstream-copy')
  const lost = join(folder, 'jetstream-lost')
  const server = () => findEngines(product).find(({ name }) => name === 'nats-server')

  await disturbRepeatedly(given, restMs, async () => {
    const before = server()
    if (before === undefined) return
    // A server that stands still writes nothing: the copy is that of one instant.
    process.kill(before.pid, 'SIGSTOP')
    cpSync(stored, copy, { recursive: true })
    process.kill(before.pid, 'SIGCONT')
    await rest(random.between(agedMs.least, agedMs.most), stopping)
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
  })
}
