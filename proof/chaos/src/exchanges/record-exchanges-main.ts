import { unpackText } from '@pitboss/storage/packed'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { prepareBase } from '@pitboss/bench/compare/prepare-base'
import { createCleanup } from '@pitboss/bench/harness/cleanup'
import { startProduct } from '@pitboss/bench/harness/start-product'
import { temporaryFolder } from '@pitboss/bench/harness/temporary-folder'
import { type Binary, BSON, MongoClient } from 'mongodb'
import { exchangesFolder, type Recording } from './recording.ts'
import { playExchanges } from './play-exchanges.ts'

/** What holds the state of rounds, money and events; other collections hold secrets. */
const kept = [
  ['pitboss_rounds', 'rounds'],
  ['pitboss_rounds', 'sessions'],
  ['pitboss_wallet_bridge', 'movements'],
  ['pitboss_webhooks', 'deliveries'],
] as const
const usage = `Usage: npm run record:exchanges -- NAME [--from COMMIT]

Plays the story of the public interface on the build of a commit, or on this one, and writes what was asked and answered,
the messages of its events and its documents into ${exchangesFolder}/NAME.json.
`

const { values, positionals } = parseArgs({ allowPositionals: true, options: { from: { type: 'string' } } })
const [name, ...more] = positionals
if (name === undefined || more.length > 0 || !/^[\w.-]+$/.test(name)) {
  process.stderr.write(usage)
  process.exit(2)
}
const cleanup = createCleanup()
try {
  const folder = temporaryFolder('exchanges', cleanup)
  const { from } = values
  const entry = from === undefined ? {} : { entry: prepareBase(from, join(folder, 'build'), cleanup) }
  const product = await startProduct({
    ...{
      dataDir: join(folder, 'data'),
      logPath: join(folder, 'product.log'),
      environment: {},
      cleanup,
      ...entry,
    },
  })
  const exchanges = await playExchanges(product.demo())
  const client = await MongoClient.connect(product.demo().engines.mongodb.url)
  cleanup.add(() => client.close())
  const webhooks = client.db('pitboss_webhooks')
  const log = await webhooks.collection<{ e: string; b: Binary }>('log').find().sort({ _id: 1 }).toArray()
  // Of a build before the log.
  const first = await webhooks
    .collection<{ _id: string; body: string }>('events')
    .find()
    .sort({ operatorId: 1, environment: 1, seq: 1 })
    .toArray()
  const messages = [
    ...first.map(({ _id: id, body }) => ({ id, body })),
    ...log.map(({ e: id, b: body }) => ({ id, body: unpackText(body) })),
  ]
  const documents: Record<string, unknown[]> = {}
  for (const [database, collection] of kept) {
    const found = await client
      .db(database)
      .collection(collection)
      .find({}, { promoteValues: false })
      .toArray()
    documents[collection] = found.map((one) => JSON.parse(BSON.EJSON.stringify(one, { relaxed: false })))
  }
  const recording: Recording = { build: from ?? 'this build', exchanges, messages, documents }
  mkdirSync(exchangesFolder, { recursive: true })
  writeFileSync(join(exchangesFolder, `${name}.json`), `${JSON.stringify(recording, null, 1)}\n`)
  process.stdout.write(
    `${exchanges.length} exchanges, ${messages.length} messages, ${Object.values(documents).flat().length} documents\n`,
  )
} finally {
  await cleanup.run()
}
