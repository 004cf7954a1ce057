import { join } from 'node:path'
import type { DemoFile } from '@pitboss/stack/demo-file'
import type { Cleanup } from './cleanup.ts'
import { createHttpClient, type HttpClient } from './http-client.ts'
import { raisedLimits } from './raised-limits.ts'
import { type BenchEngines, startEngines } from './start-engines.ts'
import { type Product, startProduct } from './start-product.ts'
import { temporaryFolder } from './temporary-folder.ts'

export type ProductWorld = {
  engines: BenchEngines
  product: Product
  /** As it was at the start; `product.demo` follows restarts. */
  demo: DemoFile
  /** To the product. */
  http: HttpClient
}

/**
 * New engines and the whole product on them, its limits out of the way, for as many callers at once as there
 * are `connections`.
 */
export async function createProductWorld({
  name,
  connections,
  cleanup,
  say,
}: {
  name: string
  connections: number
  cleanup: Cleanup
  say: (text: string) => void
}): Promise<ProductWorld> {
  const folder = temporaryFolder(`bench-${name}`, cleanup)
  say('starting engines and product')
  const engines = await startEngines(join(folder, 'engines'), cleanup)
  const product = await startProduct({
    dataDir: join(folder, 'product'),
    logPath: join(folder, 'product.log'),
    environment: { ...raisedLimits, MONGODB_URL: engines.mongodbUrl, NATS_URL: engines.natsUrl.product },
    cleanup,
  })
  const demo = product.demo()
  const http = createHttpClient(demo.base_url, connections)
  cleanup.add(() => http.close())
  return { engines, product, demo, http }
}
