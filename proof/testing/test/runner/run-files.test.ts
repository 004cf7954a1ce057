import t from 'tap'
import { type FileResult, runFiles } from '../../src/runner/run-files.ts'

const passing = "import t from 'tap'\nt.test('holds', async (t) => t.ok(true))"
const files = {
  'passes.test.ts': passing,
  'fails.test.ts': "import t from 'tap'\nt.test('is false', async (t) => t.ok(false, 'it does not hold'))",
  'throws.test.ts': "throw new Error('at its load')",
  'leaks.test.ts': `${passing}\nsetInterval(() => {}, 1000)`,
  'exits.test.ts': `${passing}\nprocess.exitCode = 3`,
  'dies.test.ts': "import t from 'tap'\nt.test('ends', async () => process.kill(process.pid, 'SIGKILL'))",
  'hangs.test.ts':
    "import t from 'tap'\nt.test('waits', () => new Promise((resolve) => setTimeout(resolve, 60_000)))",
  'sets.test.ts': `${passing}\nprocess.env.LEFT_BEHIND = 'yes'`,
  'settings.test.ts':
    "import t from 'tap'\nconst { CI, PITBOSS_LOG_LEVEL } = process.env\n" +
    "t.test('sees none', async (t) => t.strictSame([CI, PITBOSS_LOG_LEVEL], [undefined, undefined]))",
  'sees.test.ts':
    "import t from 'tap'\nt.test('sees', async (t) => t.equal(process.env.LEFT_BEHIND, undefined))",
}

/** Runs these files in one worker, in this order. A file may take a minute unless "limits" says otherwise. */
async function run(
  root: string,
  paths: readonly string[],
  { limits = {}, env = {} }: { limits?: Record<string, number>; env?: NodeJS.ProcessEnv } = {},
): Promise<FileResult[]> {
  const results: FileResult[] = []
  await runFiles(
    paths.map((path) => ({ path, kind: 'pure' })),
    {
      root,
      env,
      workers: { product: 0, engines: 0, pure: 1 },
      limitMs: (path) => limits[path] ?? 60_000,
      expectedS: (path) => paths.length - paths.indexOf(path),
      onResult: (result) => results.push(result),
      stopping: new AbortController().signal,
    },
  )
  return results
}

await t.test('each file has a verdict of its own, and what it printed', async (t) => {
  const root = t.testdir(files)
  const [passes, fails, throws, again] = await run(root, [
    ...['passes.test.ts', 'fails.test.ts', 'throws.test.ts'],
    'sees.test.ts',
  ])
  t.match(passes, { file: 'passes.test.ts', ok: true, checks: 1, complaints: [] })
  t.match(fails, { ok: false, output: /it does not hold/ })
  t.match(throws, { ok: false, output: /at its load/ })
  t.match(again, { ok: true })
})

await t.test(
  'a file that leaves something open or an exit code has failed, though its tests hold',
  async (t) => {
    const root = t.testdir(files)
    const [leaks, exits] = await run(root, ['leaks.test.ts', 'exits.test.ts'])
    t.match(leaks, { ok: false, complaints: [/left a Timeout open/] })
    t.match(exits, { ok: false, complaints: [/exit code 3/] })
  },
)

await t.test('a file whose process dies or hangs has failed, and the next one runs', async (t) => {
  const root = t.testdir(files)
  const [dies, passes] = await run(root, ['dies.test.ts', 'passes.test.ts'])
  t.match(dies, { ok: false, complaints: [/SIGKILL/] })
  t.match(passes, { ok: true })
  const limits = { 'hangs.test.ts': 3_000 }
  const [hangs, next] = await run(root, ['hangs.test.ts', 'passes.test.ts'], { limits })
  t.match(hangs, { ok: false, timedOut: true, output: /waits/, complaints: [/within 3 s/] })
  t.match(next, { ok: true })
})

await t.test('a worker that takes long to load takes nothing of its first file', async (t) => {
  const root = t.testdir(files)
  // tap sends a message as it loads: what the worker loads after it is slow here
  const loadsSlowly = `const send = process.send.bind(process)
    process.send = (...message) => {
      process.send = send
      send(...message)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5_000)
    }`
  const [passes] = await run(root, ['passes.test.ts'], {
    limits: { 'passes.test.ts': 4_000 },
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(loadsSlowly)}` },
  })
  t.match(passes, { ok: true })
})

await t.test('settings of whoever runs the tests do not reach them', async (t) => {
  t.teardown(() => {
    for (const name of ['CI', 'PITBOSS_LOG_LEVEL']) delete process.env[name]
  })
  Object.assign(process.env, { CI: '1', PITBOSS_LOG_LEVEL: 'debug' })
  t.match(await run(t.testdir(files), ['settings.test.ts']), [{ ok: true }])
})

await t.test('the environment is put back after each file', async (t) => {
  const root = t.testdir(files)
  t.match(await run(root, ['sets.test.ts', 'sees.test.ts']), [{ ok: true }, { ok: true }])
})
