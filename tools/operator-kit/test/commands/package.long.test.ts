import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { signatureTimestamp, signBody } from '@pitboss/signing/body-signature'
import t, { type Test } from 'tap'
import { createReceiverApp } from '../../src/demo-receiver/create-receiver-app.ts'
import { startEventService } from '../fixtures/event-service.ts'
import { settledRound } from '../fixtures/settled-round.ts'

/** Commands are processes, two certifications among them, and the machine may be busy. */
const timeout = 180_000

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const asNode20 = fileOf('../fixtures/as-node-20-17.cts')
const secret = 'a secret of the operator'

/** How a command of the kit is started: a Node and what it is told before the command's file. */
type Runtime = { node: string; options: readonly string[] }
type Ended = { code: number | null; out: string; err: string }

const out = t.testdir({ elsewhere: { 'package.json': '{ "private": true, "type": "module" }' } })
const packing = execFileSync(process.execPath, [fileOf('../../src/pack-main.ts'), out], {
  encoding: 'utf8',
})
const tarball = join(out, readdirSync(out).find((name) => name.endsWith('.tgz')) ?? 'no tarball')
const elsewhere = join(out, 'elsewhere')
const within = { cwd: elsewhere, encoding: 'utf8' } as const
execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], within)
const kit = join(elsewhere, 'node_modules/@pitboss/operator-kit')

t.test('packing ends with the whole path of the file and what to type next', async (t) => {
  const lines = packing.trimEnd().split('\n')
  t.ok(lines.includes(tarball), packing)
  t.equal(lines.at(-1)?.trim(), `npm install ${tarball}`)
})

t.test('the packed kit runs in an empty folder, without this repository and without a network', async (t) => {
  const installed = readdirSync(join(elsewhere, 'node_modules/@pitboss'))
  t.strictSame(installed, ['operator-kit'], 'it has no dependencies')
  const run = (...args: string[]) => spawnSync('npx', ['--offline', ...args], within)
  t.match(run('pitboss', 'verify', 'absent.json'), { status: 2, stderr: /ENOENT/ })
  t.match(run('pitboss-sandbox-wallet'), { status: 78, stderr: /WALLET_DATA_DIR/ })
})

t.test('the packed kit names nothing that Node 20.17 does not have', async (t) => {
  const known = new Map(
    readFileSync(fileOf('../fixtures/node-20.17.txt'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line): [string, Set<string>] => {
        const [owner = '', names = ''] = line.split(': ')
        return [owner, new Set(names.split(' '))]
      }),
  )
  const isLater = (owner: string, name: string) => known.get(owner)?.has(name) === false
  /** Functions of today's globals that came later: `URL.parse` and the like. */
  const statics = Object.getOwnPropertyNames(globalThis)
    .filter((name) => !isLater('globalThis', name))
    .flatMap((owner) => {
      const value: unknown = Reflect.get(globalThis, owner)
      const names = typeof value === 'function' ? Object.getOwnPropertyNames(value) : []
      const own = names.filter((name) => !['length', 'name', 'prototype'].includes(name))
      return own.filter((name) => isLater(owner, name)).map((name) => `${owner}.${name}`)
    })
  t.ok(statics.includes('URL.parse'), statics.join(' '))
  const modules = builtinModules.filter((name) => name.startsWith('node:') && name !== 'node:test')
  t.ok(modules.includes('node:sqlite'), modules.join(' '))

  const files = readdirSync(kit, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'))
  t.ok(files.length > 3)
  for (const file of files) {
    const source = readFileSync(join(kit, file), 'utf8')
    for (const module of modules) t.notOk(source.includes(`"${module}"`), `${file} loads ${module}`)
    for (const name of statics) {
      const calls = new RegExp(String.raw`\b${name.replace('.', String.raw`\.`)}\(`)
      t.notOk(calls.test(source), `${file} calls ${name}`)
    }
    for (const [, names = '', module = ''] of source.matchAll(
      /\{([^{}]*)\} ?(?:= __require\(|from )"(node:[a-z_/]+)"/g,
    )) {
      const taken = names.split(',').map(
        (each) =>
          each
            .trim()
            .split(/ as |:/)[0]
            ?.trim() ?? '',
      )
      for (const name of taken) t.notOk(isLater(module, name), `${file} takes ${name} from ${module}`)
    }
  }
})

t.test('an older Node is told in one line which one the kit needs', async (t) => {
  const before = t.testdir({
    'old.cjs': `const node = '20.16.0'
Object.defineProperty(process, 'versions', { value: { ...process.versions, node } })
Object.defineProperty(process, 'version', { value: 'v' + node })`,
  })
  const runtime = { node: process.execPath, options: ['--require', join(before, 'old.cjs')] }
  for (const command of ['pitboss', 'pitboss-sandbox-wallet']) {
    const { code, out: printed, err } = await run(runtime, command, ['--help'])
    t.equal(code, 2)
    t.equal(printed, '')
    t.equal(err, `${command} needs Node 20.17 or later; this is v20.16.0.\n`)
  }
})

t.test('every command of the packed kit runs with no more than Node 20.17 has', { timeout }, (t) =>
  runEverything(t, { node: process.execPath, options: ['--require', asNode20] }),
)

const node20 = findNode20()
const skip = node20 === null ? 'there is no Node 20.17 or later Node 20 on the PATH' : false
t.test('every command of the packed kit runs under a real Node 20', { timeout, skip }, (t) =>
  runEverything(t, { node: node20 ?? '', options: [] }),
)

async function runEverything(t: Test, runtime: Runtime): Promise<void> {
  const dir = t.testdir({
    'round.json': JSON.stringify(settledRound),
    'lie.json': JSON.stringify({ ...settledRound, payout: '20.00' }),
    'secrets.json': JSON.stringify({ secrets: [secret] }),
  })
  const pitboss = async (args: readonly string[], input = '') => {
    const ended = await run(runtime, 'pitboss', args, input)
    t.notMatch(ended.err, /^\s+at /m, `no stack trace of ${args[0]}`)
    return ended
  }

  await t.test('help and wrong usage', async (t) => {
    t.match(await pitboss(['--help']), { code: 0, out: /certify-wallet/, err: '' })
    const wrong = ['certify-wallet', '--url', 'wallet', '--secret', secret]
    t.match(await pitboss(wrong), { code: 2, err: /http:\/\// })
  })

  await t.test('verify', async (t) => {
    t.match(await pitboss(['verify', join(dir, 'round.json')]), { code: 0, out: /The round is valid/ })
    t.match(await pitboss(['verify', join(dir, 'lie.json')]), { code: 1, out: /NOT valid/ })
    t.match(await pitboss(['verify', '-', '--json'], JSON.stringify(settledRound)), { code: 0 })
    t.match(await pitboss(['verify', join(dir, 'absent.json')]), { code: 2, err: /ENOENT/ })
  })

  await t.test('the sandbox wallet, and certify-wallet of it', async (t) => {
    const env = { WALLET_DATA_DIR: join(dir, 'wallet'), WALLET_SECRET: secret }
    const wallet = start(t, runtime, 'pitboss-sandbox-wallet', [], env)
    const { port } = await wallet.nextLine()
    const url = `http://127.0.0.1:${String(port)}`
    const junit = join(dir, 'report.xml')
    const certified = await pitboss(['certify-wallet', '--url', url, '--secret', secret, '--junit', junit])
    t.match(certified, { code: 0, out: /certified \(\d+ passed, 0 failed/ })
    t.match(readFileSync(junit, 'utf8'), /failures="0"/)
    t.equal((await fetch(`${url}/sandbox`)).status, 200, 'its page')
    t.equal(await wallet.stop(), 0)
    const dead = await pitboss(['certify-wallet', '--url', url, '--secret', secret, '--json'])
    t.equal(dead.code, 1)
    t.match(JSON.parse(dead.out), { certified: false, passed: 0 })
  })

  await t.test('certify-receiver, and listen in front of the receiver', async (t) => {
    const secretsFile = join(dir, 'secrets.json')
    const app = await createReceiverApp({ dataDir: join(dir, 'receiver'), secretsFile })
    t.teardown(() => app.close())
    const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/hook`
    const certified = await pitboss(['certify-receiver', '--url', url, '--secret', secret])
    t.match(certified, { code: 0, out: /certified \(\d+ passed, 0 failed/ })

    const forward = ['--forward-to', url, '--save', join(dir, 'kept')]
    const listener = start(t, runtime, 'pitboss', [
      'listen',
      '--secret',
      secret,
      '--port',
      '0',
      '--json',
      ...forward,
    ])
    const { url: listening } = await listener.nextLine()
    const body = '{"id":"evt_1","type":"round.completed"}'
    const timestamp = signatureTimestamp(new Date())
    const headers = {
      'content-type': 'application/json',
      'x-svc-event-id': 'evt_1',
      'x-svc-event-type': 'round.completed',
      'x-svc-timestamp': timestamp,
      'x-svc-signature': `v1=${signBody(secret, timestamp, body)}`,
      'x-svc-delivery-attempt': '1',
    }
    t.equal((await fetch(String(listening), { method: 'POST', headers, body })).status, 200)
    t.match(await listener.nextLine(), { event_id: 'evt_1', verified: true, forwarded_status: 200 })
    t.equal(await listener.stop(), 0)
    t.match(readFileSync(join(dir, 'kept/events.jsonl'), 'utf8'), /evt_1/)
  })

  await t.test('reconcile', async (t) => {
    const at = '2026-11-20T10:30:00.000Z'
    const recorded = { id: 'evt_01km7y2e4g0000000000000001', type: 'round.completed', created_at: at }
    const service = await startEventService(t, [recorded])
    const events = join(dir, 'events.jsonl')
    const window = ['--from', '2026-11-20T10:00:00Z', '--to', '2026-11-20T10:59:59Z']
    const login = ['--api-url', service.url, '--key', 'ck_test_x', '--secret', 's']
    writeFileSync(events, `${JSON.stringify(recorded)}\n`)
    const args = ['reconcile', ...login, ...window, '--events', events]
    t.match(await pitboss(args), { code: 0, out: /Complete: 1 recorded/ })
    writeFileSync(events, '')
    t.match(await pitboss(args), { code: 1, out: /missing/ })
  })

  await t.test('verify-webhook in a program', async (t) => {
    const program = join(elsewhere, 'receiver.js')
    const verify = "await verify({}, new Uint8Array(), ['s'])"
    const line = `import { verify } from '@pitboss/operator-kit/verify-webhook'\nconsole.log(JSON.stringify(${verify}))\n`
    writeFileSync(program, line)
    const printed = execFileSync(runtime.node, [...runtime.options, program], within)
    t.match(JSON.parse(printed), { ok: false, reason: 'MISSING_HEADER' })
  })
}

/** Starts a command of the packed kit. */
function spawnCommand(
  { node, options }: Runtime,
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
) {
  return spawn(node, [...options, join(kit, `${command}.js`), ...args], {
    cwd: elsewhere,
    env: { ...process.env, NO_COLOR: '1', ...env },
  })
}

/** Runs a command to its end. */
async function run(runtime: Runtime, command: string, args: readonly string[], input = ''): Promise<Ended> {
  const child = spawnCommand(runtime, command, args)
  child.stdin.end(input)
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [printed, err, code] = await Promise.all([text(child.stdout), text(child.stderr), closed])
  return { code, out: printed, err }
}

/** A command that runs until it is stopped and prints JSON lines. */
function start(
  t: Test,
  runtime: Runtime,
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
) {
  const child = spawnCommand(runtime, command, args, env)
  t.teardown(() => child.kill('SIGKILL'))
  child.stderr.pipe(process.stderr)
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve))
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  return {
    async nextLine(): Promise<Record<string, unknown>> {
      const { done, value } = await lines.next()
      if (done === true) throw new Error(`${command} ended`)
      return JSON.parse(value)
    },
    async stop(): Promise<number | null> {
      child.kill('SIGTERM')
      return closed
    },
  }
}

function findNode20(): string | null {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const node = join(folder, 'node')
    const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' })
    const minor = /^v20\.(\d+)\./.exec(stdout)?.[1]
    if (minor !== undefined && Number(minor) >= 17) return node
  }
  return null
}
