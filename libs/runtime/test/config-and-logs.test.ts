import t from 'tap'
import { z } from 'zod'
import {
  baseUrlConfig,
  commonConfig,
  loopbackWalletsConfig,
  masterKeysConfig,
  storageConfig,
  timeScaleConfig,
  tokenTtlConfig,
  ConfigError,
  parseConfig,
} from '../src/load-config.ts'
import { createLogger, redactedFields } from '../src/create-logger.ts'
import { newId } from '../src/new-id.ts'
import { createTimeScale } from '../src/clock.ts'

const schema = z.object({
  ...commonConfig,
  ...storageConfig,
  ...masterKeysConfig,
  ...timeScaleConfig,
  ...tokenTtlConfig,
  ...baseUrlConfig,
  ...loopbackWalletsConfig,
})
const key = Buffer.alloc(32, 7).toString('base64')
const good = {
  NATS_URL: 'nats://u:p@host:4222',
  MONGODB_URL: 'mongodb://host/?replicaSet=rs0',
  PITBOSS_MASTER_KEYS: `a:${key},b:${key}`,
  PITBOSS_BASE_URL: 'http://127.0.0.1:8080/',
}
const problems = (environment: Record<string, string | undefined>) => {
  try {
    parseConfig(schema, environment)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.variables
    throw error
  }
}

await t.test('configuration has its defaults and an empty variable counts as unset', async (t) => {
  t.match(parseConfig(schema, { ...good, PITBOSS_LOG_LEVEL: '', PITBOSS_ALLOW_LOOPBACK_WALLETS: 'yes' }), {
    PITBOSS_PROBE_HOST: '0.0.0.0',
    PITBOSS_PROBE_PORT: 0,
    PITBOSS_LOG_LEVEL: 'info',
    PITBOSS_DATABASE_PREFIX: 'pitboss',
    PITBOSS_TIME_SCALE: 1,
    PITBOSS_TOKEN_TTL_S: 3600,
    PITBOSS_ALLOW_LOOPBACK_WALLETS: true,
    PITBOSS_BASE_URL: 'http://127.0.0.1:8080',
  })
})

for (const [variable, text] of [
  ['NATS_URL', undefined],
  ['NATS_URL', 'localhost:4222'],
  ['MONGODB_URL', 'postgres://x'],
  ['PITBOSS_MASTER_KEYS', 'a:short'],
  ['PITBOSS_PROBE_PORT', '70000'],
  ['PITBOSS_PROBE_PORT', '1.5'],
  ['PITBOSS_PROBE_PORT', '0x10'],
  ['PITBOSS_TIME_SCALE', '0.5'],
  ['PITBOSS_TIME_SCALE', 'NaN'],
  ['PITBOSS_TOKEN_TTL_S', '59'],
  ['PITBOSS_TOKEN_TTL_S', '86401'],
  ['PITBOSS_ALLOW_LOOPBACK_WALLETS', 'true'],
  ['PITBOSS_DATABASE_PREFIX', 'a b'],
  ['PITBOSS_LOG_LEVEL', 'loud'],
  ['NODE_ENV', 'prod'],
] as const) {
  await t.test(`${variable}=${text ?? '(missing)'} is refused by name`, async (t) => {
    t.strictSame(problems({ ...good, [variable]: text }), [variable])
  })
}

await t.test('production refuses what makes tests possible', async (t) => {
  const production = { ...good, NODE_ENV: 'production' }
  t.strictSame(problems(production), [])
  t.strictSame(problems({ ...production, PITBOSS_TIME_SCALE: '1', PITBOSS_ALLOW_LOOPBACK_WALLETS: 'no' }), [])
  t.strictSame(problems({ ...production, PITBOSS_TIME_SCALE: '60' }), ['PITBOSS_TIME_SCALE'])
  t.strictSame(problems({ ...production, PITBOSS_ALLOW_LOOPBACK_WALLETS: 'yes' }), [
    'PITBOSS_ALLOW_LOOPBACK_WALLETS',
  ])
  t.strictSame(problems({ ...production, PITBOSS_ALLOW_LOOPBACK_WEBHOOKS: 'yes' }), [
    'PITBOSS_ALLOW_LOOPBACK_WEBHOOKS',
  ])
  t.strictSame(problems({ ...production, PITBOSS_FAILPOINTS: 'a=kill' }), ['PITBOSS_FAILPOINTS'])
  t.strictSame(problems({ ...production, PITBOSS_SERVICE_ENTRIES: '/elsewhere' }), [
    'PITBOSS_SERVICE_ENTRIES',
  ])
})

for (const field of redactedFields) {
  await t.test(`the log never shows ${field}`, async (t) => {
    let text = ''
    const logger = createLogger({
      service: 'x',
      destination: { write: (line: string) => void (text += line) },
    })
    const secret = 'hunter2-the-secret'
    logger.info(
      { [field]: secret, a: { [field]: secret, b: { [field]: secret, c: { [field]: secret } } } },
      'probe',
    )
    t.notMatch(text, secret)
    t.equal(text.match(/\[redacted\]/g)?.length, 4)
  })
}

await t.test(
  'a log line is one JSON object with service, level, time and the error with its cause',
  async (t) => {
    let text = ''
    const logger = createLogger({
      service: 'rounds',
      destination: { write: (line: string) => void (text += line) },
    })
    logger.error({ err: new Error('outer', { cause: new Error('inner') }) }, 'round.failed')
    t.match(JSON.parse(text), {
      service: 'rounds',
      level: 'error',
      msg: 'round.failed',
      time: /Z$/,
      err: { message: /outer/ },
    })
    t.match(JSON.parse(text).err.stack, /inner/)
  },
)

await t.test('ids have a prefix and 26 characters, sort by time and do not repeat', async (t) => {
  const ids = Array.from({ length: 20_000 }, () => newId('rnd'))
  t.ok(ids.every((id) => /^rnd_[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(id)))
  t.equal(new Set(ids).size, ids.length)
  t.strictSame(ids.toSorted(), ids)
  t.throws(() => newId('Rnd_'), RangeError)
})

await t.test('a time scale divides delays, never to nothing', async (t) => {
  t.equal(createTimeScale(1).scaleMs(1234), 1234)
  t.equal(createTimeScale(60).scaleMs(60_000), 1000)
  t.equal(createTimeScale(100_000).scaleMs(5), 1)
  t.equal(createTimeScale(60).scaleMs(0), 0)
  for (const factor of [0, 0.99, Number.NaN, 100_001]) t.throws(() => createTimeScale(factor), RangeError)
})
