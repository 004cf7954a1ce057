import { MongoClient } from 'mongodb'
import type { Cleanup } from '../harness/cleanup.ts'
import { createHttpClient, expectStatus } from '../harness/http-client.ts'
import { mintToken, openSession } from '../harness/operator.ts'
import { createProductWorld } from '../harness/product-world.ts'
import { runLoad } from '../harness/run-load.ts'
import { type PairPlan, runPairs, type Side } from '../harness/run-pairs.ts'
import { startPart, startServer } from '../harness/start-part.ts'
import { renderComparisons } from '../harness/table.ts'
import { floorDatabase } from './floor-names.ts'

const sessionsRead = 64

/**
 * `GET /v1/sessions/{id}` with one token against fastify, a NATS request and one findOne on the same
 * documents.
 */
export async function runRead(plan: PairPlan, cleanup: Cleanup, say: (text: string) => void) {
  const connections = Math.max(...plan.concurrencies)
  const { engines, demo, http } = await createProductWorld({ name: 'read', connections, cleanup, say })
  const token = await mintToken(http, demo)
  const ids: string[] = []
  for (let index = 0; index < sessionsRead; index++) {
    const player = { player_id: `reader-${index}`, game: 'dice', currency: 'USD' }
    ids.push((await openSession(http, token, player)).sessionId)
  }
  const scope = await copySessions(engines.mongodbUrl)

  const service = { MONGODB_URL: engines.mongodbUrl, NATS_URL: engines.natsUrl.floor }
  await startPart('read/floor-service-main.ts', service, cleanup)
  const atEdge = { NATS_URL: engines.natsUrl.floor, FLOOR_SCOPE: scope }
  const edge = await startServer('read/floor-http-main.ts', atEdge, cleanup)
  const floorHttp = createHttpClient(edge.url, connections)
  cleanup.add(() => floorHttp.close())

  const side = (read: (id: string) => Promise<string>): Side => {
    let next = 0
    const work = async () => {
      await read(ids[next++ % ids.length] ?? '')
    }
    return (concurrency, durationMs) => runLoad({ concurrency, durationMs, work })
  }
  const comparisons = await runPairs(
    plan,
    {
      product: side((id) => expectStatus(200, http.send('GET', `/v1/sessions/${id}`, { token }))),
      floor: side((id) => expectStatus(200, floorHttp.send('GET', `/sessions/${id}`))),
    },
    say,
  )
  return { result: { engines: engines.kinds, comparisons }, text: renderComparisons(comparisons) }
}

/** Gives the floor the product's own session documents. @returns the scope that they have. */
async function copySessions(mongodbUrl: string): Promise<string> {
  const client = new MongoClient(mongodbUrl, { useBigInt64: true })
  try {
    await client.connect()
    const documents = await client
      .db('pitboss_rounds')
      .collection<{ _id: string }>('sessions')
      .find()
      .toArray()
    const copies = client.db(floorDatabase).collection<{ _id: string }>('sessions')
    await copies.insertMany(documents)
    const [first] = documents
    if (first === undefined || !('scope' in first)) throw new Error('there are no sessions')
    return String(first.scope)
  } finally {
    await client.close()
  }
}
