import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t from 'tap'

type Line = { msg: string; probe_port?: number; [field: string]: unknown }

const program = fileURLToPath(new URL('fixtures/service-process.ts', import.meta.url))

function start(behaviour: string, environment: Record<string, string> = {}) {
  const child = spawn(process.execPath, [program], {
    env: { NATS_URL: 'nats://127.0.0.1:1', BEHAVIOUR: behaviour, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const lines: Line[] = []
  const waiting: { msg: string; resolve: (line: Line) => void }[] = []
  createInterface({ input: child.stdout }).on('line', (text) => {
    const line: Line = JSON.parse(text)
    lines.push(line)
    for (const { msg, resolve } of waiting) if (msg === line.msg) resolve(line)
  })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => void (stderr += chunk.toString()))
  return {
    child,
    lines,
    stderr: () => stderr,
    ended: once(child, 'close').then(([code, signal]: unknown[]) => ({ code, signal })),
    logged: (msg: string) =>
      new Promise<Line>((resolve) => {
        const there = lines.find((line) => line.msg === msg)
        if (there === undefined) waiting.push({ msg, resolve })
        else resolve(there)
      }),
    async get(path: string) {
      const { probe_port } = await this.logged('service.starting')
      const response = await fetch(`http://127.0.0.1:${probe_port}${path}`)
      return { status: response.status, text: await response.text() }
    },
  }
}

await t.test(
  'a service answers its probes, prints nothing but log lines, stops on SIGTERM and exits 0',
  async (t) => {
    const service = start('good')
    await service.logged('service.started')
    t.match(await service.get('/healthz'), { status: 200 })
    t.match(await service.get('/readyz'), { status: 200 })
    const metrics = await service.get('/metrics')
    t.equal(metrics.status, 200)
    t.match(metrics.text, /process_cpu_user_seconds_total\{service="probe"\}/)
    t.match(await service.get('/other'), { status: 404 })
    service.child.kill('SIGTERM')
    t.strictSame(await service.ended, { code: 0, signal: null })
    t.strictSame(
      service.lines.map(({ msg }) => msg),
      ['service.starting', 'service.started', 'service.stopping', 'probe.stopped', 'service.stopped'],
    )
    t.equal(service.stderr(), '')
  },
)

await t.test('probes are answered on the given address alone', async (t) => {
  const service = start('good', { PITBOSS_PROBE_HOST: '127.0.0.1' })
  await service.logged('service.started')
  t.match(await service.get('/healthz'), { status: 200 })
  const { probe_port } = await service.logged('service.starting')
  await t.rejects(fetch(`http://127.0.0.2:${probe_port}/healthz`))
  service.child.kill('SIGTERM')
  await service.ended
})

await t.test('/readyz names what is missing', async (t) => {
  const unready = start('unready')
  await unready.logged('service.started')
  const { status, text } = await unready.get('/readyz')
  t.equal(status, 503)
  t.strictSame(JSON.parse(text).missing, ['nats', 'database'])
  t.match(await unready.get('/healthz'), { status: 200 })
})

await t.test('a service that waits for its start is alive, not ready, and stops at once', async (t) => {
  const waiting = start('wait')
  const { status, text } = await waiting.get('/readyz')
  t.equal(status, 503)
  t.strictSame(JSON.parse(text).missing, ['started'])
  t.match(await waiting.get('/healthz'), { status: 200 })
  waiting.child.kill('SIGINT')
  t.strictSame(await waiting.ended, { code: 0, signal: null })
})

await t.test('a second signal ends it at once', async (t) => {
  const service = start('slow-stop')
  await service.logged('service.started')
  service.child.kill('SIGTERM')
  await service.logged('service.stopping')
  service.child.kill('SIGTERM')
  t.match(await service.ended, { code: 1 })
})

for (const [behaviour, message] of [
  ['bad-start', 'no database'],
  ['reject', 'nobody caught this'],
  ['fail', 'NATS closed'],
] as const) {
  await t.test(`what cannot be mended (${behaviour}) is logged and ends the process with 1`, async (t) => {
    const service = start(behaviour)
    t.match(await service.ended, { code: 1 })
    t.match(service.lines.at(-1), { msg: 'service.failed', level: 'fatal', err: { message } })
  })
}

await t.test(
  'a bad configuration ends the process with 78 and names the variable, never its value',
  async (t) => {
    const service = start('good', { NATS_URL: 'http://user:hunter2@host' })
    t.match(await service.ended, { code: 78 })
    t.match(service.stderr(), /NATS_URL: must look like nats:/)
    t.notMatch(service.stderr(), /hunter2/)
  },
)

await t.test(
  'an armed failpoint kills the process at its n-th time, and production refuses it',
  async (t) => {
    const service = start('failpoint', { PITBOSS_FAILPOINTS: 'other.point=kill,probe.hit=kill@3' })
    t.strictSame(await service.ended, { code: null, signal: 'SIGKILL' })
    t.equal(service.stderr(), 'hit 1\nhit 2\nhit 3\n')
    const production = start('failpoint', { PITBOSS_FAILPOINTS: 'probe.hit=kill', NODE_ENV: 'production' })
    t.match(await production.ended, { code: 78 })
    t.match(production.stderr(), /PITBOSS_FAILPOINTS/)
    const misspelt = start('failpoint', { PITBOSS_FAILPOINTS: 'probe.hit=explode' })
    t.match(await misspelt.ended, { code: 78 })
  },
)
