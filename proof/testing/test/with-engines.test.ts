import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { MongoClient } from 'mongodb'
import { connect } from 'nats'
import t from 'tap'
import { startTestEngines } from '../src/start-test-engines.ts'
import { withEngines } from '../src/with-engines.ts'

const given = process.env.PITBOSS_TEST_ENGINES

async function streams(url: string): Promise<string[]> {
  const { username, password, host } = new URL(url)
  const nc = await connect({ servers: host, user: username, pass: password })
  try {
    return await (await jetstreamManager(nc)).streams.names().next()
  } finally {
    await nc.close()
  }
}

async function addStream(url: string): Promise<void> {
  const { username, password, host } = new URL(url)
  const nc = await connect({ servers: host, user: username, pass: password })
  await (await jetstreamManager(nc)).streams.add({ name: 'LEFT', subjects: ['left.>'] })
  await nc.close()
}

await t.test(
  'two suites at the same time get different accounts, prefixes, and engines that work',
  async (t) => {
    const [first, second] = await Promise.all([withEngines(t), withEngines(t)])
    t.not(first.natsUrl, second.natsUrl)
    t.not(first.databasePrefix, second.databasePrefix)
    const client = new MongoClient(first.mongodbUrl)
    t.teardown(() => client.close())
    const collection = client.db(`${first.databasePrefix}_x`).collection('y')
    await collection.insertOne({ a: 1 })
    t.equal(await collection.countDocuments(), 1)
    await addStream(first.natsUrl)
    t.strictSame(await streams(first.natsUrl), ['LEFT'])
    t.strictSame(await streams(second.natsUrl), [])
  },
)

await t.test(
  'an account is free again, and empty, after its suite, and after a test process that crashed',
  async (t) => {
    // a pair with one account only, so that whoever asks must get the one that was left
    const { engines, stop } = await startTestEngines(1)
    const folder = mkdtempSync(join(tmpdir(), 'pitboss-crash-'))
    t.teardown(async () => {
      await stop()
      rmSync(folder, { recursive: true })
      process.env.PITBOSS_TEST_ENGINES = given ?? ''
    })
    process.env.PITBOSS_TEST_ENGINES = JSON.stringify(engines)
    const crash = join(folder, 'crash.mjs')
    const helper = new URL('../src/with-engines.ts', import.meta.url).href
    writeFileSync(
      crash,
      `const { withEngines } = await import('${helper}'); await withEngines({ teardown() {} }); process.kill(process.pid, 'SIGKILL')`,
    )
    const crashed = spawnSync(process.execPath, [crash], { env: process.env })
    t.equal(crashed.signal, 'SIGKILL', String(crashed.stderr))

    await t.test('the next suite', async (t) => {
      await addStream((await withEngines(t)).natsUrl)
      await t.rejects(withEngines(t), /accounts are taken/)
    })
    await t.test('and the one after it', async (t) => {
      t.strictSame(await streams((await withEngines(t)).natsUrl), [])
    })
  },
)
