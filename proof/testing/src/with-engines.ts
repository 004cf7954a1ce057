import { createHash, randomBytes } from 'node:crypto'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Claim, claimFile } from '@pitboss/engines/processes/claim-file'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from 'nats'
import { emptyDatabases } from './empty-databases.ts'
import { runningFile } from './runner/running-file.ts'
import { startTestEngines, type TestEngines, testEnginesSchema, testPassword } from './start-test-engines.ts'

/** Engines of one suite: its own NATS account and its own prefix of database names. */
export type SuiteEngines = { mongodbUrl: string; natsUrl: string; databasePrefix: string }

type Teardown = { teardown(fn: () => void | Promise<void>): void }

/** Enough for the suites of one file that is run by hand. */
const ownAccounts = 8

/**
 * Lends a test suite real engines: an empty NATS account and a database prefix. Both are returned at the
 * suite's teardown. The services' databases below the prefix keep their indexes then and lose their
 * documents, for the next suite; every other database is dropped. Under `npm test` all suites
 * share one pair of engines; a file that is run by itself (without PITBOSS_TEST_ENGINES) starts a pair of its
 * own and stops it at the end.
 * @param options.fresh true for a suite about indexes or with databases of its own: they have names that no
 * other suite has, and are dropped. A name must not come back: a backend of DocumentDB may still know the
 * dropped one
 */
export async function withEngines(
  t: Teardown,
  { fresh = false }: { fresh?: boolean } = {},
): Promise<SuiteEngines> {
  const shared = await sharedEngines(t)
  const { account, claim } = claimAccount(shared)
  const databasePrefix = fresh
    ? `${shared.database_prefix}f${randomBytes(4).toString('hex')}`
    : `${shared.database_prefix}a${account}`
  const lentNote = join(shared.claims_dir, `${account}.lent`)
  if (existsSync(lentNote))
    await emptyDatabases(shared, `${shared.database_prefix}a${account}`, { dropAll: true })
  writeFileSync(lentNote, '')
  t.teardown(async () => {
    await emptyDatabases(shared, databasePrefix, { dropAll: fresh })
    rmSync(lentNote)
    claim.release()
  })
  await removeStreams(shared.nats_url, `t${account}`)
  return {
    mongodbUrl: shared.mongodb_url,
    natsUrl: shared.nats_url.replace('nats://', `nats://t${account}:${testPassword}@`),
    databasePrefix,
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

/**
 * Claims a free account, beginning with the workspace's own, so that few databases are made. A claim names
 * its process: an account of a process that crashed is free, and its note says that it was not returned.
 */
function claimAccount(shared: TestEngines): { account: number; claim: Claim } {
  const workspace = runningFile.path.split('/').slice(0, 2).join('/')
  const first = createHash('sha256').update(workspace).digest().readUInt16BE() % shared.nats_accounts
  for (let tried = 0; tried < shared.nats_accounts; tried++) {
    const account = (first + tried) % shared.nats_accounts
    const result = claimFile(join(shared.claims_dir, String(account)))
    if ('claim' in result) return { account, claim: result.claim }
  }
  throw new Error(`all ${shared.nats_accounts} NATS test accounts are taken (${shared.claims_dir})`)
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
