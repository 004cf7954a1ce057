import { setTimeout as delay } from 'node:timers/promises'
import { MongoClient } from 'mongodb'
import t from 'tap'
import { startEngine } from './fixtures/start-engine.ts'
import { startWorkload } from './fixtures/workload.ts'

/** `PITBOSS_SOAK_SECONDS=300` for the long run. */
const seconds = Number(process.env.PITBOSS_SOAK_SECONDS ?? 5)

t.setTimeout((seconds + 60) * 1_000)
const engine = await startEngine(t)
const client = await new MongoClient(engine.url).connect()
t.teardown(() => client.close())

await t.test(
  `${seconds} s of transfers conserve the sum, and every balance is what the journal says`,
  async (t) => {
    const workload = await startWorkload(client, 'soak')
    // how long the work goes on, not a wait for something to have happened
    await delay(seconds * 1_000)
    await workload.stop()
    t.same(await workload.problems(), [])
    t.equal(await workload.total(), workload.startTotal)
    t.comment(`${workload.acknowledged()} acknowledged writes, ${workload.transfers()} of them transfers`)
  },
)
