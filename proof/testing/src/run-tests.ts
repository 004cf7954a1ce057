import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, globSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { EngineError } from '@pitboss/engines/engine-error'
import { partition } from '@pitboss/runtime/partition'
import { importsAny } from './imports-any.ts'
import { startTestEngines } from './start-test-engines.ts'

/**
 * `npm test`: starts the engines once, runs the test files of all workspaces (or the named ones) against
 * them, four at a time, and always stops the engines. Files that start whole products come after the others,
 * two at a time. A file that would disturb others, or be disturbed, is named `*.alone.test.ts`: it runs by
 * itself at the end. `npm test -- libs/money/test/amount.test.ts` runs one file; `npm test -- --no-engines`
 * only those that start no database or broker; other options go to tap.
 */
const root = fileURLToPath(new URL('../../../', import.meta.url))
const globs = ['{libs,services,tools,proof}/*/test/**/*.test.ts', 'web/test/**/*.test.ts']
const accounts = 60
/** Files at a time, more than a small machine has cores: many wait for timers and the disk. */
const jobs = 4
/** A whole product is eight processes, which wait for each other no longer than in production. */
const productJobs = 2
const startsProduct = /(run-stack|start-product|stack\/src\/main)(\.ts)?$/
const startsEngines =
  /(with-engines|with-nats-cluster|run-stack|start-product|start-test-engines|start-mongodb|start-nats|start-documentdb)(\.ts)?$/
const interruptedExitCode = 130
const saveOption = '--save='
const tap = join(root, 'node_modules/tap/dist/esm/run.mjs')
/** Node's compile cache: a run starts hundreds of processes that load the same files. */
const compileCache = join(root, 'node_modules/.cache/node-compile')
const beforeEachFile = fileURLToPath(new URL('./before-each-file.cts', import.meta.url))

process.exitCode = await main(process.argv.slice(2))

async function main(args: string[]): Promise<number> {
  const startedAt = performance.now()
  const withoutEngines = args.includes('--no-engines')
  const options = args.filter((arg) => arg.startsWith('-') && arg !== '--no-engines')
  const named = args.filter((arg) => !arg.startsWith('-'))
  const files = testFiles(named).filter(
    (file) => !withoutEngines || !importsAny(join(root, file), startsEngines),
  )
  if (files.length === 0) return report(1, 'no test file matches', startedAt)
  const buildCode = await buildTap()
  if (buildCode !== 0) return report(buildCode, 'tap could not be built', startedAt)
  if (withoutEngines)
    return report(await runTap(files, options, {}), `${files.length} files without engines`, startedAt)

  const started = await startOrExplain()
  if (started === null) return report(1, 'the engines did not start', startedAt)
  const { engines, description, stop } = started
  console.error(`engines: ${description}`)
  try {
    const code = await runTap(files, options, { PITBOSS_TEST_ENGINES: JSON.stringify(engines) })
    return report(code, `${files.length} files, ${description}`, startedAt)
  } finally {
    await stop()
  }
}

async function startOrExplain(): Promise<Awaited<ReturnType<typeof startTestEngines>> | null> {
  try {
    return await startTestEngines(accounts)
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    console.error(error.message)
    return null
  }
}

function testFiles(named: string[]): string[] {
  const all = globSync(globs, { cwd: root, exclude: (path) => path.includes('node_modules') }).sort()
  if (named.length === 0) return all
  const wanted = named.map((path) => relative(root, join(process.cwd(), path)))
  return all.filter((file) => wanted.some((path) => file === path || file.startsWith(`${path}/`)))
}

/**
 * tap compiles its plugins into one module when they change; the first run after an install would use the old
 * one.
 */
async function buildTap(): Promise<number> {
  const built = dirname(
    createRequire(join(root, 'node_modules/tap/package.json')).resolve('@tapjs/test/package.json'),
  )
  const loads = readFileSync(join(built, 'test-built/dist/esm/index.js'), 'utf8').includes(
    '@tapjs/typescript',
  )
  return loads ? run(['build'], {}) : 0
}

async function runTap(files: string[], options: string[], env: Record<string, string>): Promise<number> {
  const isAlone = (file: string) => file.endsWith('.alone.test.ts')
  const [alone, others] = partition(files, isAlone)
  const [products, small] = partition(others, (file) => importsAny(join(root, file), startsProduct))
  const rounds = [
    { files: small, atOnce: jobs },
    { files: products, atOnce: productJobs },
    { files: alone, atOnce: 1 },
  ].filter((round) => round.files.length > 0)
  const [save, rest] = partition(options, (option) => option.startsWith(saveOption))
  let code = 0
  for (const { files: these, atOnce } of rounds) {
    const args = ['run', `--node-arg=--require=${beforeEachFile}`, `--jobs=${atOnce}`, ...rest]
    const ended = await runSaving(save[0]?.slice(saveOption.length), (option) =>
      run([...args, ...option, ...these], env),
    )
    if (ended === interruptedExitCode) return ended
    if (code === 0) code = ended
  }
  return code
}

/**
 * Adds what failed to the file of `--save`. tap reads that file first, and runs nothing but what it lists, so
 * each run gets an empty one.
 */
async function runSaving(
  saved: string | undefined,
  runWith: (option: string[]) => Promise<number>,
): Promise<number> {
  if (saved === undefined) return runWith([])
  const own = `${saved}.part`
  rmSync(own, { force: true })
  const code = await runWith([`${saveOption}${own}`])
  if (existsSync(own)) appendFileSync(saved, readFileSync(own))
  rmSync(own, { force: true })
  return code
}

/**
 * Signals go to tap as well, being of the same terminal; it ends its tests, then the engines are stopped
 * here.
 */
async function run(args: string[], env: Record<string, string>): Promise<number> {
  const child = spawn(process.execPath, [tap, ...args], {
    cwd: root,
    stdio: 'inherit',
    env: { NODE_COMPILE_CACHE: compileCache, ...process.env, ...env },
  })
  let signals = 0
  const onSignal = (signal: NodeJS.Signals) => {
    signals += 1
    if (signals > 1) process.exit(interruptedExitCode)
    child.kill(signal)
  }
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  try {
    const [code] = await once(child, 'exit')
    return typeof code === 'number' ? code : interruptedExitCode
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
  }
}

function report(code: number, what: string, startedAt: number): number {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0)
  console.log(`npm test: ${code === 0 ? 'passed' : `FAILED (exit code ${code})`}; ${what}; ${seconds} s`)
  return code
}
