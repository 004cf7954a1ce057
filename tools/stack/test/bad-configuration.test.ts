import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkEngineSettings } from '@pitboss/engines/engine-settings'
import t from 'tap'
import { readStackOptions } from '../src/stack-options.ts'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const tour = fileURLToPath(new URL('../src/demo-main.ts', import.meta.url))
const engines = fileURLToPath(new URL('../../engines/src/cli.ts', import.meta.url))

/**
 * What `npm start` says and how it ends; nothing may be started before the configuration is known to be good.
 */
function start(environment: NodeJS.ProcessEnv, flags: readonly string[] = []) {
  return run(main, environment, ['--data-dir', t.testdirName, ...flags])
}

function run(program: string, environment: NodeJS.ProcessEnv, flags: readonly string[]) {
  const { status, stderr } = spawnSync(process.execPath, [program, ...flags], {
    env: { ...process.env, PITBOSS_SERVICE_ENTRIES: undefined, ...environment },
    encoding: 'utf8',
    timeout: 30_000,
  })
  return { status, stderr }
}

/** As `start`, in this process: the exit is thrown, and what would be printed is kept. */
function read(environment: NodeJS.ProcessEnv, flags: readonly string[] = []) {
  const printed: string[] = []
  const { exit, stderr } = process
  const { write } = stderr
  let status: number | null = null
  process.exit = (code) => {
    status = Number(code)
    throw new Error('the process ends')
  }
  stderr.write = (text: string | Uint8Array) => printed.push(String(text)) > 0
  try {
    readStackOptions(flags, environment, false)
  } catch (error) {
    if (status === null) throw error
  } finally {
    process.exit = exit
    stderr.write = write
  }
  return { status, stderr: printed.join('') }
}

t.test('a bad value ends the start with 78 and names its variable or flag', async (t) => {
  t.match(start({ PORT: 'abc' }), { status: 78, stderr: /PORT/ })
  for (const [variable, value] of [
    ['PORT', 'abc'],
    ['PORT', '99999'],
    ['PITBOSS_TIME_SCALE', '0'],
    ['PITBOSS_TOKEN_TTL_S', '59'],
    ['PITBOSS_LOG_LEVEL', 'loud'],
    ['MONGODB_URL', 'elsewhere'],
    ['PITBOSS_DATABASE_PREFIX', 'Casino'],
  ] as const) {
    const { status, stderr } = read({ [variable]: value })
    t.equal(status, 78, `${variable}=${value}`)
    t.match(stderr, variable)
  }
  t.match(read({ NODE_ENV: 'production', PITBOSS_TIME_SCALE: '60' }), {
    status: 78,
    stderr: /PITBOSS_TIME_SCALE/,
  })
  t.match(read({ NODE_ENV: 'production' }), { status: 78, stderr: /NODE_ENV.*--no-demo/ })
  for (const variable of ['PITBOSS_ALLOW_LOOPBACK_WEBHOOKS', 'PITBOSS_ALLOW_LOOPBACK_WALLETS']) {
    const refused = { status: 78, stderr: new RegExp(variable) }
    t.match(read({ NODE_ENV: 'production', [variable]: 'yes' }, ['--no-demo']), refused)
    t.match(read({ [variable]: 'maybe' }), refused)
    t.match(read({ [variable]: 'no' }), refused, 'the demo needs addresses on this machine')
  }
  t.match(read({}, ['--port', 'x']), { status: 78, stderr: /--port/ })
  for (const replicas of ['gateway=0', 'gateway=2,gateway=3', '', 'gateway=2,', 'gateway=2=3'])
    t.match(read({}, ['--replicas', replicas]), { status: 78, stderr: /--replicas/ }, replicas)
})

t.test('so does an engine or a folder that cannot be one, and nothing is started', async (t) => {
  const folder = t.testdir({ file: '', data: {} })
  const [file, data] = [join(folder, 'file'), join(folder, 'data')]
  const unset = { MONGODB_URL: '', NATS_URL: '' }
  for (const [variable, value] of [
    ['MONGOD_BIN', join(folder, 'nowhere')],
    ['NATS_SERVER_BIN', file],
    ['PITBOSS_CACHE_DIR', file],
    ['PITBOSS_CACHE_DIR', join(file, 'below')],
  ] as const) {
    const message = new RegExp(`${variable} is set to ${value}`)
    t.throws(() => checkEngineSettings({ ...unset, [variable]: value }), { exitCode: 78, message })
  }
  const noProgram = run(main, { ...unset, NATS_SERVER_BIN: file }, ['--data-dir', data, '--port', '0'])
  t.match(noProgram, { status: 78, stderr: /NATS_SERVER_BIN is set to/ })
  t.strictSame(readdirSync(data), [])
  const noFolder = {
    status: 78,
    stderr: /^PITBOSS_DATA_DIR or --data-dir names .*file, which cannot be used/m,
  }
  t.match(run(main, { PITBOSS_DATA_DIR: file }, ['--port', '0']), noFolder)
  if (process.platform === 'linux') {
    const nowhere = {
      status: 78,
      stderr: /^PITBOSS_DATA_DIR or --data-dir names \/proc\/x, which cannot be used/m,
    }
    t.match(run(main, {}, ['--port', '0', '--data-dir', '/proc/x']), nowhere)
  }
  const noTour = { status: 78, stderr: /The tour stopped: PITBOSS_DATA_DIR or --data-dir names .*file/ }
  t.match(run(tour, { PITBOSS_DATA_DIR: file }, ['--port', '0']), noTour, 'npm run demo')
  const noStatus = { status: 78, stderr: /^engines: .*PITBOSS_CACHE_DIR/ }
  t.match(run(engines, { PITBOSS_CACHE_DIR: file }, ['status']), noStatus, 'npm run engines')
})

t.test('images without podman are refused with the packages that bring it', async (t) => {
  const images = ['--images', '--port', '0']
  t.match(start({ PATH: t.testdir() }, images), {
    status: 1,
    stderr: /^--images needs podman, .* apt-get install podman/,
  })
  t.match(start({ PODMAN_BIN: '/nowhere' }, images), { status: 78, stderr: /PODMAN_BIN is set to \/nowhere/ })
  const broken = { status: 1, stderr: /cannot start a pod here: .*\n.*apt-get install podman runc catatonit/ }
  t.match(start({ PODMAN_BIN: '/bin/false' }, images), broken)
  t.match(read({ PITBOSS_SERVICE_ENTRIES: '/x' }, images), { status: 78, stderr: /PITBOSS_SERVICE_ENTRIES/ })
})

t.test('an unknown flag is wrong usage', async (t) => {
  t.match(read({}, ['--wat']), { status: 2, stderr: /--wat/ })
})
