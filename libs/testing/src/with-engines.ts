import { randomBytes, randomInt } from 'node:crypto'
import { mkdirSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Engines of one suite: its own NATS account and its own prefix of database names. */
export type SuiteEngines = { mongodbUrl: string; natsUrl: string; databasePrefix: string }

type Teardown = { teardown(fn: () => void): void }

/**
 * Gives a test suite real engines, shared by the whole run: a NATS account with nothing in it and a database prefix
 * that nobody else uses. Both are given back at the suite's teardown.
 */
export async function withEngines(t: Teardown): Promise<SuiteEngines> {
  const shared = JSON.parse(process.env.PITBOSS_TEST_ENGINES ?? 'null')
  if (shared === null) throw new Error('run the tests with "npm test", which starts the engines')
  const claims = join(tmpdir(), 'pitboss-test-accounts')
  mkdirSync(claims, { recursive: true })
  const start = randomInt(shared.nats_accounts)
  for (let tried = 0; tried < shared.nats_accounts; tried++) {
    const account = (start + tried) % shared.nats_accounts
    const claim = join(claims, String(account))
    try {
      mkdirSync(claim)
    } catch {
      continue
    }
    t.teardown(() => rmdirSync(claim))
    const { connect } = await import('nats')
    const { jetstreamManager } = await import('@nats-io/jetstream')
    const natsUrl = shared.nats_url.replace('nats://', `nats://t${account}:t@`)
    const nc = await connect({ servers: shared.nats_url, user: `t${account}`, pass: 't' })
    const manager = await jetstreamManager(nc)
    for await (const stream of manager.streams.list()) await manager.streams.delete(stream.config.name)
    await nc.close()
    return { mongodbUrl: shared.mongodb_url, natsUrl, databasePrefix: `t${randomBytes(6).toString('hex')}` }
  }
  throw new Error('all NATS test accounts are taken')
}
