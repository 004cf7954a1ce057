import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { MongoClient } from 'mongodb'
import type { Cleanup } from '../harness/cleanup.ts'
import { createHttpClient } from '../harness/http-client.ts'
import type { Measured } from '../harness/measured.ts'
import { signIn } from '../harness/operator.ts'
import { raisedLimits } from '../harness/raised-limits.ts'
import { runParts } from '../harness/run-parts.ts'
import { startEngines } from '../harness/start-engines.ts'
import { startProduct } from '../harness/start-product.ts'
import { temporaryFolder } from '../harness/temporary-folder.ts'
import { waitUntilIdle } from '../harness/wait-until-idle.ts'
import { measureLists } from './measure-lists.ts'
import { measurePages } from './measure-pages.ts'
import { measureTails } from './measure-tails.ts'
import { playSamples } from './play-samples.ts'
import { readSamples, type Seeded, seedAccount, seededAccount } from './seed-account.ts'

const connections = 8
const idleWithinMs = 30_000

export const dashboardParts = ['lists', 'pages', 'tails'] as const
type DashboardPart = (typeof dashboardParts)[number]
/** One person's tails are as many as the gateway's. */
const manyTails = { PITBOSS_LIMIT_PERSON_TAILS: '2000', PITBOSS_LIMIT_ACCOUNT_TAILS: '2000' }

type DashboardPlan = {
  readonly rounds: number
  readonly parts: readonly DashboardPart[]
  /** Where the account is kept for later runs; one that is there is measured as it is. */
  readonly account: string | undefined
}

/** The dashboard of an account with `rounds` rounds behind it, stored once for all parts. */
export async function runDashboard(
  { rounds, parts, account }: DashboardPlan,
  cleanup: Cleanup,
  say: (text: string) => void,
): Promise<Measured> {
  say('starting engines and product')
  const folder = account === undefined ? temporaryFolder('bench-dashboard', cleanup) : resolve(account)
  mkdirSync(folder, { recursive: true })
  const engines = await startEngines(join(folder, 'engines'), cleanup)
  const client = await new MongoClient(engines.mongodbUrl, { useBigInt64: true }).connect()
  cleanup.add(() => client.close())
  const start = () =>
    startProduct({
      dataDir: join(folder, 'product'),
      logPath: join(folder, 'product.log'),
      environment: {
        ...raisedLimits,
        ...manyTails,
        MONGODB_URL: engines.mongodbUrl,
        NATS_URL: engines.natsUrl.product,
      },
      cleanup,
    })
  const seed = async (): Promise<Seeded> => {
    const young = await start()
    const stories = await readSamples(client, await playSamples(young.demo()))
    await young.stop()
    return seedAccount({ client, stories, size: rounds }, say)
  }
  const seeded = await keptIn(join(folder, 'seeded.json'), seed)
  say(`${seeded.rounds} rounds, stored in ${seeded.seconds.toFixed(0)} s`)
  const demo = (await start()).demo()
  await waitUntilIdle({ busyMax: 0.15, withinMs: idleWithinMs }, say)
  const http = createHttpClient(demo.base_url, connections)
  cleanup.add(() => http.close())
  const world = { http, token: await signIn(http, demo), demo, seeded, say }
  const { results, text } = await runParts(
    parts,
    {
      lists: () => measureLists(world),
      pages: (own) => measurePages({ ...world, cleanup: own }),
      tails: (own) => measureTails({ ...world, cleanup: own }),
    },
    cleanup,
  )
  return {
    result: { engines: engines.kinds, rounds: seeded.rounds, seedSeconds: seeded.seconds, ...results },
    text: `An account with ${seeded.rounds} rounds of 29 days\n\n${text}`,
  }
}

/** What an earlier run has stored, else what `seed` stores; the file is written when all of it is there. */
async function keptIn(path: string, seed: () => Promise<Seeded>): Promise<Seeded> {
  if (existsSync(path)) return seededAccount.parse(JSON.parse(readFileSync(path, 'utf8')))
  const seeded = await seed()
  writeFileSync(path, JSON.stringify(seeded))
  return seeded
}
