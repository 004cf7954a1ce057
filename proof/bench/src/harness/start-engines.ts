import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { startMongodb } from '@pitboss/engines/start-mongodb'
import { startNats } from '@pitboss/engines/start-nats'
import type { Cleanup } from './cleanup.ts'

/**
 * Engines of the benchmark's own, for product, another build and floor alike; each has a NATS account that
 * the others do not see.
 */
export type BenchEngines = {
  dataDir: string
  mongodbUrl: string
  natsUrl: Readonly<Record<'product' | 'base' | 'floor', string>>
  kinds: { mongodb: string; nats: string }
}

export async function startEngines(dataDir: string, cleanup: Cleanup): Promise<BenchEngines> {
  const password = randomBytes(12).toString('hex')
  const mongodb = await startMongodb({ dataDir: join(dataDir, 'mongodb') })
  cleanup.add(() => mongodb.stop())
  const nats = await startNats({
    dataDir: join(dataDir, 'nats'),
    accounts: ['product', 'base', 'floor'].map((name) => ({
      name: name.toUpperCase(),
      users: [{ name, password }],
    })),
  })
  cleanup.add(() => nats.stop())
  const natsUrl = (user: string) => {
    const url = new URL(nats.url)
    url.username = user
    url.password = password
    return url.href
  }
  return {
    dataDir,
    mongodbUrl: mongodb.url,
    natsUrl: { product: natsUrl('product'), base: natsUrl('base'), floor: natsUrl('floor') },
    kinds: {
      mongodb: `${mongodb.kind} ${mongodb.version}`,
      nats: `${nats.kind} ${nats.version}`,
    },
  }
}
