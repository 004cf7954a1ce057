import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { collectProduction, productionPackages } from '@pitboss/deploy/production-files'
import { freePort } from '@pitboss/engines/processes/free-port'
import { waitFor } from '@pitboss/testing/wait-for'
import { withEngines } from '@pitboss/testing/with-engines'
import t from 'tap'
import { z } from 'zod'
import { environmentOf } from '../src/environment-of.ts'
import { renderOverlay } from '../src/render-folder.ts'
import { serviceNames, storedServices } from '../src/services.ts'
import { whoSpeaksToWhom } from '../src/who-speaks-to-whom.ts'
import { type Workload, workloadsOf } from '../src/workloads.ts'
import { remotePorts } from './fixtures/remote-ports.ts'
import { sampleSecrets } from './fixtures/sample-secrets.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url)).replace(/\/$/, '')
/** The user of our images; processes of tests become it where they may, and where it may run this Node. */
const user = process.getuid?.() === 0 && isOpenToAll(process.execPath) ? { uid: 65_532, gid: 65_532 } : {}
const readyWithinMs = 60_000

const manifests = await renderOverlay('dev')
const workloads = new Map(workloadsOf(manifests).map((workload) => [workload.name, workload]))
const base = mkdtempSync(join(tmpdir(), 'pitboss-images-'))
chmodSync(base, 0o755)
const { natsUrl, mongodbUrl, databasePrefix } = await withEngines(t)
const children: ChildProcess[] = []
t.teardown(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(base, { recursive: true, force: true })
})

/** Whether every user may pass through the folders of a file and run it. */
function isOpenToAll(path: string): boolean {
  const real = realpathSync(path)
  const isOpen = (statSync(real).mode & 0o001) !== 0
  return isOpen && (dirname(real) === real || isOpenToAll(dirname(real)))
}

/** Starts what a manifest's container starts, from the files of its image, with engines of the test's own. */
function start(workload: Workload | undefined, folder: string, more: Record<string, string>): ChildProcess {
  const container = workload?.pod.containers[0]
  assert(container)
  const app = join(base, workload?.name ?? '')
  if (!existsSync(app)) collectProduction(root, folder, app)
  const { NATS_NKEY_SEED: _, ...environment } = environmentOf(container, manifests, sampleSecrets)
  const [, ...words] = [...container.command, ...container.args].map((word) => word.replace('/app', app))
  const child = spawn(process.execPath, words, {
    cwd: app,
    env: { ...environment, NATS_URL: natsUrl, ...more },
    stdio: ['ignore', 'pipe', 'inherit'],
    ...user,
  })
  children.push(child)
  return child
}

/** Runs the container of the Job with other arguments. @returns its exit code and what it printed */
async function runOps(args: string[]): Promise<{ code: number | null; printed: string }> {
  const job = workloads.get('topology')
  const container = job?.pod.containers[0]
  assert(job && container)
  const child = start({ ...job, pod: { ...job.pod, containers: [{ ...container, args }] } }, 'tools/ops', {})
  assert(child.stdout)
  const [printed] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return { code: child.exitCode, printed }
}

await t.test('an image holds what its service needs, and nothing of tests and tools', async (t) => {
  for (const name of serviceNames) {
    const packages = productionPackages(root, `services/${name}`)
    t.ok(packages.includes('libs/bus'), name)
    t.strictSame(
      packages.filter((path) => /^(proof|tools|web)|typescript|tap|mongodb-memory-server/.test(path)),
      [],
      name,
    )
    t.equal(packages.includes('node_modules/mongodb'), name !== 'gateway', `the driver in ${name}`)
    t.equal(
      packages.some((path) => path.includes('argon2')),
      name === 'auth',
      `the addon in ${name}`,
    )
  }
})

await t.test('the Job makes the streams from its image', async (t) => {
  const args = workloads.get('topology')?.pod.containers[0]?.args ?? []
  const { code } = await runOps(args.map((word) => (word === '3' ? '1' : word)))
  t.equal(code, 0)
})

await t.test('each Job that builds indexes does so from its service’s image, and once more', async (t) => {
  for (const name of storedServices) {
    const [job, service] = [workloads.get(`${name}-indexes`), workloads.get(name)]
    assert(job && service)
    for (const what of ['makes them', 'finds them']) {
      const more = { MONGODB_URL: mongodbUrl, PITBOSS_DATABASE_PREFIX: databasePrefix }
      const child = start({ ...job, name }, `services/${name}`, more)
      assert(child.stdout)
      const [printed] = await Promise.all([text(child.stdout), once(child, 'exit')])
      t.equal(child.exitCode, 0, `${name} ${what}`)
      t.match(printed, /"state":"there"/, name)
      t.notMatch(printed, /"state":"missing"/, name)
    }
  }
})

await t.test('all five run from their images, as their user, and end when they are told', async (t) => {
  const started: { name: string; child: ChildProcess; probes: string }[] = []
  const port = String(await freePort())
  for (const name of serviceNames) {
    const probePort = String(await freePort())
    const child = start(workloads.get(name), `services/${name}`, {
      PITBOSS_PROBE_PORT: probePort,
      PITBOSS_PROBE_HOST: '127.0.0.1',
      ...(name === 'gateway'
        ? { PORT: port, HOST: '127.0.0.1', PITBOSS_WEB_FOLDER: join(base, name, 'web/dist') }
        : { MONGODB_URL: mongodbUrl, PITBOSS_DATABASE_PREFIX: databasePrefix }),
    })
    child.stdout?.resume()
    started.push({ name, child, probes: `http://127.0.0.1:${probePort}` })
  }
  for (const { name, child, probes } of started) {
    await waitFor(
      async () => {
        assert.equal(child.exitCode, null)
        return (await fetch(`${probes}/readyz`)).ok
      },
      { timeoutMs: readyWithinMs, what: `${name} to be ready` },
    )
    t.match(await (await fetch(`${probes}/metrics`)).text(), /process_cpu_seconds_total/, name)
  }
  const api = `http://127.0.0.1:${port}`
  await waitFor(async () => (await fetch(`${api}/readyz`)).ok, { what: 'all services to answer the gateway' })
  t.equal((await fetch(`${api}/v1/public/verify`)).status, 200, 'the pages are there')
  t.equal((await fetch(`${api}/v1/public/docs`)).status, 200, 'the reference is there')
  t.equal((await fetch(`${api}/v1/public/jwks.json`)).status, 200, 'auth has made its key')
  const email = 'owner@casino.example'
  const order = [
    'tools/ops/src/main.ts',
    'operator',
    'create',
    '--name',
    'Casino',
    '--email',
    email,
    '--json',
  ]
  const { printed } = await runOps(order)
  const { password } = z
    .looseObject({ dashboard: z.looseObject({ password: z.string() }) })
    .parse(JSON.parse(printed)).dashboard
  const login = await fetch(`${api}/v1/dashboard/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  })
  t.equal(login.status, 200, 'a password is compared, with the addon')
  if (process.platform === 'linux') {
    // The table of who speaks to whom, compared with the sockets of real processes.
    const engines = new Map([
      [Number(new URL(natsUrl).port), 'nats'],
      [Number(/:([0-9]+)\//.exec(mongodbUrl)?.[1]), 'mongodb'],
    ])
    for (const { name, child } of started) {
      const seen = [...remotePorts(child.pid ?? 0)].map((at) => engines.get(at) ?? `port ${at}`)
      const allowed = whoSpeaksToWhom.filter(({ from }) => from === name).map(({ to }) => to)
      t.strictSame(
        seen.toSorted(),
        ['mongodb', 'nats'].filter((engine) => allowed.includes(engine)),
        `${name} speaks to whom it may`,
      )
    }
  }
  const ends = started.map(async ({ name, child }) => {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    const [code] = await ended
    return [name, code]
  })
  t.strictSame(
    Object.fromEntries(await Promise.all(ends)),
    Object.fromEntries(serviceNames.map((name) => [name, 0])),
  )
})

await t.test('a process of an image writes nothing and starts nothing', async (t) => {
  const container = workloads.get('rounds')?.pod.containers[0]
  const app = join(base, 'rounds')
  const flags = container?.command.slice(1).map((word) => word.replace('/app', app)) ?? []
  const attempt = async (code: string) => {
    const child = spawn(process.execPath, [...flags, '-e', code], { cwd: app, env: {}, stdio: 'ignore' })
    return (await once(child, 'exit'))[0]
  }
  t.equal(await attempt("require('fs').readFileSync('package.json')"), 0)
  t.not(await attempt("require('fs').readFileSync('/etc/passwd')"), 0)
  t.not(await attempt("require('fs').writeFileSync('x', '')"), 0)
  t.not(await attempt("require('child_process').execFileSync('/bin/true')"), 0)
  t.not(await attempt("process.dlopen({ exports: {} }, 'x.node')"), 0)
})
