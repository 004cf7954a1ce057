import { randomBytes } from 'node:crypto'
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
import { idTimeMs, newId } from '../src/new-id.ts'
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
const randomKey = 'pX0m1S3oq8a7cJ5t2vZ4yWbUeHdKfLgN6rTiQ9xCz8E='
const secure = {
  NATS_URL: 'tls://nats-1.internal.example:4222,tls://nats-2.internal.example:4222',
  NATS_NKEY_SEED: 'SUAGC3DTNAMZAQW3QZOJVR4ZXZTBLYPZTBSNFEYQ3KRDKQCVTKDTBZGXYM',
  MONGODB_URL: 'mongodb://rounds:secret@db-1.example:27017,db-2.example:27017/?replicaSet=rs0&tls=true',
  PITBOSS_MASTER_KEYS: `b:${randomKey}`,
  PITBOSS_BASE_URL: 'https://play.example.com',
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

const messageOf = (environment: Record<string, string | undefined>) => {
  try {
    return JSON.stringify(parseConfig(schema, environment))
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

await t.test('configuration has its defaults and an empty variable counts as unset', async (t) => {
  t.match(parseConfig(schema, { ...good, PITBOSS_LOG_LEVEL: '', PITBOSS_ALLOW_LOOPBACK_WALLETS: 'yes' }), {
    PITBOSS_PROBE_HOST: '127.0.0.1',
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

const production = { ...secure, NODE_ENV: 'production' }
const { NATS_NKEY_SEED: _seed, ...withoutSeed } = production
const asText = Buffer.from('correct horse battery staple 123').toString('base64')
const counted = Buffer.from(Array.from({ length: 32 }, (_, index) => index)).toString('base64')
for (const [what, environment, variable, remedy] of [
  ['NATS in plain text', { ...production, NATS_URL: 'nats://nats.example' }, 'NATS_URL', /tls:\/\//],
  [
    'one NATS server in plain text',
    { ...production, NATS_URL: 'tls://a.example,nats://b.example' },
    'NATS_URL',
    /TLS/,
  ],
  ['NATS without a login', withoutSeed, 'NATS_URL', /NATS_NKEY_SEED/],
  [
    'MongoDB in plain text',
    { ...production, MONGODB_URL: 'mongodb://u:p@db.example/?replicaSet=rs0' },
    'MONGODB_URL',
    /tls=true/,
  ],
  [
    'MongoDB with TLS switched off',
    { ...production, MONGODB_URL: 'mongodb+srv://u:p@db.example/?tls=false' },
    'MONGODB_URL',
    /tls=true/,
  ],
  [
    'MongoDB without a login',
    { ...production, MONGODB_URL: 'mongodb://db.example/?tls=true' },
    'MONGODB_URL',
    /user and password/,
  ],
  [
    'MongoDB with any certificate',
    { ...production, MONGODB_URL: 'mongodb://u:p@db.example/?tls=true&tlsAllowInvalidCertificates=true' },
    'MONGODB_URL',
    /tlsCAFile/,
  ],
  [
    'an http base url',
    { ...production, PITBOSS_BASE_URL: 'http://play.example.com' },
    'PITBOSS_BASE_URL',
    /https:\/\//,
  ],
  [
    'a master key of zeros',
    { ...production, PITBOSS_MASTER_KEYS: `a:${Buffer.alloc(32).toString('base64')}` },
    'PITBOSS_MASTER_KEYS',
    /openssl rand -base64 32/,
  ],
  [
    'a second master key of one byte',
    { ...production, PITBOSS_MASTER_KEYS: `b:${randomKey},a:${key}` },
    'PITBOSS_MASTER_KEYS',
    /key 2/,
  ],
  [
    'a master key that counts',
    { ...production, PITBOSS_MASTER_KEYS: `a:${counted}` },
    'PITBOSS_MASTER_KEYS',
    /random/,
  ],
  [
    'a master key of words',
    { ...production, PITBOSS_MASTER_KEYS: `a:${asText}` },
    'PITBOSS_MASTER_KEYS',
    /random/,
  ],
] as const) {
  await t.test(`production refuses ${what}, naming the remedy and no secret`, async (t) => {
    t.strictSame(problems(environment), [variable])
    t.throws(() => parseConfig(schema, environment), { message: remedy })
    const secrets = Object.values(environment).filter((text) => text !== 'production')
    for (const secret of secrets) t.notMatch(messageOf(environment), secret)
    t.strictSame(problems({ ...environment, NODE_ENV: 'development' }), [], 'elsewhere it is taken')
  })
}

await t.test('production takes what is safe in another way', async (t) => {
  for (const safe of [
    { ...withoutSeed, NATS_URL: 'tls://user:pass@nats.example' },
    { ...withoutSeed, NATS_URL: 'nats://127.0.0.1:4222' },
    { ...production, MONGODB_URL: 'mongodb+srv://u:p@db.example/' },
    { ...production, MONGODB_URL: 'mongodb://db.example/?tls=true&authMechanism=MONGODB-X509' },
    { ...production, MONGODB_URL: 'mongodb://127.0.0.1:27017,localhost:27018/?replicaSet=rs0' },
    { ...production, MONGODB_URL: 'mongodb://%2Ftmp%2Fmongodb-27017.sock/' },
    { ...production, PITBOSS_BASE_URL: 'http://[::1]:8080' },
    {
      ...production,
      PITBOSS_ENCRYPTED_NETWORK: 'yes',
      NATS_URL: 'nats://nats.example',
      MONGODB_URL: 'mongodb://u:p@db.example/?replicaSet=rs0',
    },
  ]) {
    t.strictSame(problems(safe), [], JSON.stringify(safe))
  }
  t.strictSame(
    problems({ ...withoutSeed, PITBOSS_ENCRYPTED_NETWORK: 'yes', MONGODB_URL: 'mongodb://db.example/' }),
    ['NATS_URL', 'MONGODB_URL'],
    'an encrypted network is no login',
  )
})

await t.test('random master keys are never refused', async (t) => {
  const refused = Array.from({ length: 2000 }, () => `a:${randomBytes(32).toString('base64')}`).filter(
    (PITBOSS_MASTER_KEYS) => problems({ ...production, PITBOSS_MASTER_KEYS }).length > 0,
  )
  t.strictSame(refused, [])
})

await t.test('production refuses what makes tests possible', async (t) => {
  t.strictSame(problems(production), [])
  t.strictSame(problems({ ...production, PITBOSS_TIME_SCALE: '1', PITBOSS_ALLOW_LOOPBACK_WALLETS: 'no' }), [])
  for (const [name, text] of [
    ['NODE_TLS_REJECT_UNAUTHORIZED', '0'],
    ['PITBOSS_TRUSTED_PROXIES', '10.0.0.1, ::/0'],
    ['PITBOSS_TRUSTED_PROXIES', '0.0.0.0/0'],
  ] as const)
    t.strictSame(problems({ ...production, [name]: text }), [name])
  t.strictSame(problems({ ...production, PITBOSS_TRUSTED_PROXIES: '10.0.0.0/8' }), [])
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

await t.test('the log shows no secret of a list, of a child logger or of an object with methods', (t) => {
  let text = ''
  const destination = { write: (line: string) => void (text += line) }
  const secret = 'hunter2-the-secret'
  class Login {
    readonly user = 'ann'
    readonly password = secret
  }
  const logger = createLogger({ service: 'x', destination }).child({ token: secret, place: { secret } })
  const line = { sealed_at: new Date(0), logins: [new Login()], secrets: [secret] }
  logger.info(line, 'probe')
  t.notMatch(text, secret)
  t.match(JSON.parse(text), {
    token: '[redacted]',
    place: { secret: '[redacted]' },
    sealed_at: '1970-01-01T00:00:00.000Z',
    logins: { 0: { user: 'ann', password: '[redacted]' } },
    secrets: '[redacted]',
  })
  t.equal(line.logins[0]?.password, secret, 'the value itself stays as it is')
  t.end()
})

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

await t.test('an id names the millisecond in which it was made', async (t) => {
  const before = Date.now()
  const ms = idTimeMs(newId('rnd'))
  t.ok(before <= ms && ms <= Date.now())
  for (const text of ['', 'rnd', 'rnd_', 'rnd_0123', 'rnd_0123u56789abcdef', 'no id'])
    t.equal(idTimeMs(text), 0, text)
})

await t.test('a time scale divides delays, never to nothing', async (t) => {
  t.equal(createTimeScale(1).scaleMs(1234), 1234)
  t.equal(createTimeScale(60).scaleMs(60_000), 1000)
  t.equal(createTimeScale(100_000).scaleMs(5), 1)
  t.equal(createTimeScale(60).scaleMs(0), 0)
  for (const factor of [0, 0.99, Number.NaN, 100_001]) t.throws(() => createTimeScale(factor), RangeError)
})

t.test('nothing of a line acts on the terminal that shows it, and its values are the same', async (t) => {
  const lines: string[] = []
  const logger = createLogger({ service: 'test', destination: { write: (line: string) => lines.push(line) } })
  const name = 'Evil\u001b[2K\u007f\u009b1m\u202egnp\u2028x\ny'
  logger.info({ name, err: new Error(name) }, 'thing.done')
  t.equal(lines.length, 1)
  t.notMatch(lines[0]?.slice(0, -1), /[\p{Cc}\u2028\u202e]/u)
  t.match(JSON.parse(lines[0] ?? ''), { name, err: { message: name } })
})
