import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))

/** What `npm start` says and how it ends; nothing may be started before the configuration is known to be good. */
function start(environment: NodeJS.ProcessEnv, flags: readonly string[] = []) {
  const { status, stderr } = spawnSync(process.execPath, [main, '--data-dir', t.testdirName, ...flags], {
    env: { ...process.env, ...environment },
    encoding: 'utf8',
    timeout: 30_000,
  })
  return { status, stderr }
}

t.test('a bad value ends the start with 78 and names its variable or flag', async (t) => {
  for (const [variable, value] of [
    ['PORT', 'abc'],
    ['PORT', '99999'],
    ['PITBOSS_TIME_SCALE', '0'],
    ['PITBOSS_TOKEN_TTL_S', '59'],
    ['PITBOSS_LOG_LEVEL', 'loud'],
    ['MONGODB_URL', 'elsewhere'],
    ['PITBOSS_DATABASE_PREFIX', 'Casino'],
  ] as const) {
    const { status, stderr } = start({ [variable]: value })
    t.equal(status, 78, `${variable}=${value}`)
    t.match(stderr, variable)
  }
  t.match(start({ NODE_ENV: 'production', PITBOSS_TIME_SCALE: '60' }), {
    status: 78,
    stderr: /PITBOSS_TIME_SCALE/,
  })
  t.match(start({ NODE_ENV: 'production' }), { status: 78, stderr: /NODE_ENV.*--no-demo/ })
  for (const variable of ['PITBOSS_ALLOW_LOOPBACK_WEBHOOKS', 'PITBOSS_ALLOW_LOOPBACK_WALLETS']) {
    const refused = { status: 78, stderr: new RegExp(variable) }
    t.match(start({ NODE_ENV: 'production', [variable]: 'yes' }, ['--no-demo']), refused)
    t.match(start({ [variable]: 'maybe' }), refused)
    t.match(start({ [variable]: 'no' }), refused, 'the demo needs addresses on this machine')
  }
  t.match(start({}, ['--port', 'x']), { status: 78, stderr: /--port/ })
  t.match(start({}, ['--replicas', 'gateway=0']), { status: 78, stderr: /--replicas/ })
})

t.test('an unknown flag is wrong usage', async (t) => {
  t.match(start({}, ['--wat']), { status: 2, stderr: /--wat/ })
})
