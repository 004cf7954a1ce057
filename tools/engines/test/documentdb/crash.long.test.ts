import { MongoClient } from 'mongodb'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { startEngine } from './fixtures/start-engine.ts'
import { startWorkload } from './fixtures/workload.ts'

/** `PITBOSS_CRASH_ROUNDS=20` for the long run. */
const rounds = Number(process.env.PITBOSS_CRASH_ROUNDS ?? 3)
const writesBetween = 60
const recoveryMsMax = 20_000

const engine = await startEngine(t)

const victims = [
  { name: 'the gateway', pid: () => engine.gatewayPid() },
  { name: 'PostgreSQL', pid: () => engine.postgresPid() },
]

for (const [number, { name, pid }] of victims.entries()) {
  await t.test(
    `kill -9 of ${name} loses nothing acknowledged, tears nothing, and clients go on`,
    async (t) => {
      const client = await new MongoClient(engine.url, { serverSelectionTimeoutMS: 15_000 }).connect()
      t.teardown(() => client.close())
      const workload = await startWorkload(client, `crash_${number}`)
      const more = (writes: number) => {
        const goal = workload.acknowledged() + writes
        return waitFor(() => workload.acknowledged() >= goal, {
          timeoutMs: recoveryMsMax,
          what: `${writes} more writes`,
        })
      }
      const recoveriesMs: number[] = []
      for (let round = 0; round < rounds; round++) {
        await more(writesBetween)
        const killed = pid()
        process.kill(killed, 'SIGKILL')
        const killedAt = performance.now()
        await waitFor(() => pid() !== killed, { timeoutMs: recoveryMsMax, what: 'another process' })
        await more(writesBetween)
        recoveriesMs.push(Math.round(performance.now() - killedAt))
      }
      await workload.stop()
      t.same(await workload.problems(), [])
      t.comment(`${workload.acknowledged()} acknowledged; writing again after ${recoveriesMs.join(', ')} ms`)
    },
  )
}
