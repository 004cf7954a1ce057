import { tryOps } from '@pitboss/testing/run-ops'
import { withEngines } from '@pitboss/testing/with-engines'
import { MongoClient } from 'mongodb'
import t from 'tap'

const { natsUrl, mongodbUrl, databasePrefix } = await withEngines(t, { fresh: true })
Object.assign(process.env, {
  NATS_URL: natsUrl,
  MONGODB_URL: mongodbUrl,
  PITBOSS_DATABASE_PREFIX: databasePrefix,
})

type Row = { service: string; collection: string; index: string; state: string; documents: number }

async function indexes(...args: string[]) {
  const { code, stdout, stderr } = await tryOps(null, 'indexes', ...args, '--json')
  const rows: Row[] = stdout === '' ? [] : JSON.parse(stdout)
  return { code, stderr, rows, states: [...new Set(rows.map(({ state }) => state))] }
}

await t.test('what the build wants is made before its services start, and only once', async (t) => {
  const planned = await indexes('plan')
  t.match(planned, { code: 0, states: ['missing'] })
  t.strictSame(
    [...new Set(planned.rows.map(({ service }) => service))],
    ['auth', 'rounds', 'wallet-bridge', 'webhooks'],
  )
  t.match(await indexes('apply', '--dry-run', '--service', 'auth'), { code: 0, states: ['missing'] })
  const bridge = ['apply', '--service', 'wallet-bridge']
  const [one, other] = await Promise.all([indexes(...bridge), indexes(...bridge)])
  t.match(one, { code: 0, states: ['there'], stderr: /no audit record/ })
  t.match(other, { code: 0, states: ['there'] }, 'two at once end alike')
  t.match(await indexes('apply'), { code: 0, states: ['there'] })
  t.match(await indexes(...bridge), { code: 0, states: ['there'], stderr: '' }, 'then nothing is left to do')
  const { stdout } = await tryOps(null, 'indexes', 'plan', '--service', 'webhooks')
  t.match(stdout, /^service +collection +index +state +documents +megabytes\n/)
  t.match(stdout, /\nwebhooks +events +fact +there +0 +0\n/)
})

await t.test('one that is missing is named, and made beside documents', async (t) => {
  const client = new MongoClient(mongodbUrl)
  t.teardown(() => client.close())
  const movements = client.db(`${databasePrefix}_wallet_bridge`).collection('movements')
  await movements.dropIndex('pending')
  const missing = ({ rows }: { rows: Row[] }) =>
    rows.filter(({ state }) => state === 'missing').map(({ collection, index }) => `${collection}.${index}`)
  await movements.insertOne({ status: 'PENDING' })
  const bridge = ['--service', 'wallet-bridge']
  t.strictSame(missing(await indexes('plan', ...bridge)), ['movements.pending'])
  t.match(await indexes('apply', ...bridge), { code: 0, states: ['there'] })

  await movements.createIndex({ x: 1 }, { name: 'of_another_build', unique: true })
  const refused = await indexes('plan', ...bridge)
  t.match(refused, { code: 1, stderr: /does not start beside movements\.of_another_build/ })
  t.ok(refused.rows.some(({ state }) => state === 'undeclared'))
})

await t.test('what cannot be done is said in a sentence', async (t) => {
  process.env.MONGODB_URL = 'mongodb://127.0.0.1:1/?replicaSet=rs0'
  t.match(await indexes('plan', '--service', 'auth'), { code: 1, stderr: /auth: .*127\.0\.0\.1:1/ })
  process.env.MONGODB_URL = 'postgres://x'
  t.match(await indexes('plan', '--service', 'auth'), { code: 2, stderr: /MONGODB_URL: must look like/ })
  process.env.MONGODB_URL = ''
  t.match(await indexes('plan', '--service', 'auth'), { code: 2, stderr: /set MONGODB_URL/ })
})
