import { randomBytes, randomInt } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Claim, claimFile } from '@pitboss/engines/processes/claim-file'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from 'nats'
import { startTestEngines, type TestEngines, testEnginesSchema, testPassword } from './start-test-engines.ts'

/** Engines of one suite: its own NATS account and its own prefix of database names. */
export type SuiteEngines = { mongodbUrl: string; natsUrl: string; databasePrefix: string }

type Teardown = { teardown(fn: () => void | Promise<void>): void }

/** Enough for the suites of one file that is run by hand. */
const ownAccounts = 8

/**
 * Gives a test suite real engines: an empty NATS account and a database prefix of its own. Both are given
 * back at the suite's teardown. Under `npm test` all suites share one pair of engines; a file that is run by
 * itself (without PITBOSS_TEST_ENGINES) starts a pair of its own and stops it at the end.
 */
export async function withEngines(t: Teardown): Promise<SuiteEngines> {
  const shared = await sharedEngines(t)
  const { account, claim } = claimAccount(shared)
  t.teardown(() => claim.release())
  await removeStreams(shared.nats_url, `t${account}`)
  return {
    mongodbUrl: shared.mongodb_url,
    natsUrl: shared.nats_url.replace('nats://', `nats://t${account}:${testPassword}@`),
    databasePrefix: `t${randomBytes(6).toString('hex')}`,
  }
}

let own: { starting: ReturnType<typeof startTestEngines>; users: number } | null = null

async function sharedEngines(t: Teardown): Promise<TestEngines> {
  const given = process.env.PITBOSS_TEST_ENGINES
  if (given) return testEnginesSchema.parse(JSON.parse(given))
  own ??= { starting: startTestEngines(ownAccounts), users: 0 }
  const pair = own
  pair.users += 1
  const { engines, stop } = await pair.starting
  t.teardown(async () => {
    pair.users -= 1
    if (pair.users > 0) return
    if (own === pair) own = null
    await stop()
  })
  return engines
}

/** A claim names its process, so that what a crashed test left behind is free again. */
function claimAccount(shared: TestEngines): { account: number; claim: Claim } {
  const folder =
    shared.claims_dir ??
    join(tmpdir(), `pitboss-claims-${new URL(shared.nats_url).port}-${process.getuid?.() ?? 0}`)
  mkdirSync(folder, { recursive: true })
  const start = randomInt(shared.nats_accounts)
  for (let tried = 0; tried < shared.nats_accounts; tried++) {
    const account = (start + tried) % shared.nats_accounts
    const result = claimFile(join(folder, String(account)))
    if ('claim' in result) return { account, claim: result.claim }
  }
  throw new Error(`all ${shared.nats_accounts} NATS test accounts are taken (${folder})`)
}

async function removeStreams(url: string, user: string): Promise<void> {
  const nc = await connect({ servers: url, user, pass: testPassword })
  try {
    const manager = await jetstreamManager(nc, { checkAPI: false })
    const names = await manager.streams.names().next()
    await Promise.all(names.map((name) => manager.streams.delete(name)))
  } finally {
    await nc.close()
  }
}
