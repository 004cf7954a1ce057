import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { EngineError } from '@pitboss/engines/engine-error'
import { bundlePrograms } from './runner/bundle-programs.ts'
import { childrenCpuSeconds } from './runner/cpu-seconds.ts'
import { chooseFiles, type TestFile } from './runner/choose-files.ts'
import { appendHistory, describeHistory, readHistory } from './runner/history.ts'
import { describeMachine, measureMachine } from './runner/machine-speed.ts'
import { describeFailure, describeResult, describeTimes } from './runner/report.ts'
import { type FileResult, runFiles } from './runner/run-files.ts'
import { startTestEngines, type TestEngines } from './start-test-engines.ts'

/**
 * `npm test`: starts a pair of engines, runs the test files of all workspaces (or the named ones) in a few
 * processes, and says what each cost. `npm test -- services/rounds` runs the files below a folder;
 * `--no-engines` only those that start no database or broker; `--times` prints the cost of every file;
 * `--history` which files have failed lately. Exit code 1: a test failed; 3: this machine is too slow at the
 * moment to say.
 */
const root = fileURLToPath(new URL('../../../', import.meta.url))
const accounts = 60
/** Engine files wait for disks and timers, so more of them run at a time than a small machine has cores. */
const workers = { product: 1, engines: 3, pure: 1 }
/** Of the long tests, which keep both cores busy by themselves. */
const longWorkers = { product: 1, engines: 1, pure: 1 }
/** A file takes 15 s at most on the reference machine by itself, and runs beside four others. */
const fileLimitMs = 120_000
const longFileLimitMs = 1_800_000
/** Beyond it services do not answer each other within their own time-outs, whatever the tests allow. */
const slownessMax = 12
const tooSlowCode = 3
const interruptedCode = 130
/** Node's compile cache: a run starts many processes that load the same files. */
const compileCache = join(root, 'node_modules/.cache/node-compile')

process.exitCode = await main()

async function main(): Promise<number> {
  const startedAt = performance.now()
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      'no-engines': { type: 'boolean', default: false },
      times: { type: 'boolean', default: false },
      history: { type: 'boolean', default: false },
      long: { type: 'boolean', default: false },
    },
  })
  const history = readHistory(root)
  if (values.history) {
    console.log(describeHistory(history).join('\n'))
    return 0
  }
  const machine = measureMachine()
  console.log(describeMachine(machine))
  if (machine.slowness > slownessMax) return tooSlow(machine.slowness)
  const files = chooseFiles(root, positionals, values.long).filter(
    ({ kind }) => kind === 'pure' || !values['no-engines'],
  )
  if (files.length === 0) {
    console.error('no test file matches')
    return 1
  }
  const buildCode = await buildTap()
  if (buildCode !== 0) return buildCode

  const needsPrograms = files.some(({ kind }) => kind !== 'pure')
  // beside the start of the engines
  const bundling = needsPrograms ? bundlePrograms(root) : null
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort())
  const results: FileResult[] = []
  const runAll = async (engines: TestEngines | null) => {
    const bundles = bundling === null ? {} : { PITBOSS_SERVICE_ENTRIES: await bundling }
    await runFiles(files, {
      root,
      workers: values.long ? longWorkers : values['no-engines'] ? { ...workers, pure: 3 } : workers,
      limitMs: () => (values.long ? longFileLimitMs : fileLimitMs) * machine.slowness,
      stopping: stopping.signal,
      env: {
        NODE_COMPILE_CACHE: compileCache,
        ...bundles,
        PITBOSS_TEST_SLOWNESS: String(machine.slowness),
        ...(engines === null ? {} : { PITBOSS_TEST_ENGINES: JSON.stringify(engines) }),
      },
      expectedS: (path) => history.findLast((run) => path in run.files)?.files[path]?.[0] ?? 1,
      onResult(result) {
        results.push(result)
        console.log(describeResult(result))
        if (!result.ok) console.log(describeFailure(result))
      },
    })
  }
  if (!(await withEngines(files, runAll))) return 1
  if (stopping.signal.aborted) return interruptedCode

  const wallS = (performance.now() - startedAt) / 1000
  const cpuS = childrenCpuSeconds()
  const failed = results.filter(({ ok }) => !ok)
  appendHistory(root, {
    at: new Date().toISOString(),
    ...{ slowness: round(machine.slowness), wallS: round(wallS), cpuS: round(cpuS) },
    files: Object.fromEntries(
      results.map((result) => [result.file, [round(result.wallS), round(result.cpuS)]]),
    ),
    failed: failed.map(({ file }) => file),
  })
  console.log(describeTimes(results, { all: values.times, wallS, cpuS }).join('\n'))
  if (failed.length > 0) console.log(`failed:\n${failed.map(({ file }) => `  ${file}`).join('\n')}`)
  console.log(`${results.length - failed.length} passed, ${failed.length} failed`)
  if (failed.some(({ timedOut }) => timedOut)) {
    const { slowness } = measureMachine()
    if (slowness > slownessMax) return tooSlow(slowness)
  }
  return failed.length === 0 ? 0 : 1
}

function tooSlow(slowness: number): number {
  console.log(
    `This machine is too slow at the moment to judge: ${slowness.toFixed(1)} times as slow as the reference, the limit is ${slownessMax} times.`,
  )
  return tooSlowCode
}

/** Whether the engines that some of the files need have started. */
async function withEngines(
  files: readonly TestFile[],
  run: (engines: TestEngines | null) => Promise<void>,
): Promise<boolean> {
  if (files.every(({ kind }) => kind === 'pure')) {
    await run(null)
    return true
  }
  let started: Awaited<ReturnType<typeof startTestEngines>>
  try {
    started = await startTestEngines(accounts)
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    console.error(error.message)
    return false
  }
  console.log(`engines: ${started.description}`)
  try {
    await run(started.engines)
  } finally {
    await started.stop()
  }
  return true
}

/**
 * tap compiles its plugins into one module when they change; the first run after an install would use the old
 * one.
 */
async function buildTap(): Promise<number> {
  const resolve = createRequire(join(root, 'node_modules/tap/package.json')).resolve
  const built = readFileSync(
    join(dirname(resolve('@tapjs/test/package.json')), 'test-built/dist/esm/index.js'),
  )
  if (!built.includes('@tapjs/typescript')) return 0
  const tap = spawn(process.execPath, [join(root, 'node_modules/tap/dist/esm/run.mjs'), 'build'], {
    cwd: root,
    stdio: 'inherit',
  })
  const [code] = await once(tap, 'exit')
  return typeof code === 'number' ? code : interruptedCode
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
