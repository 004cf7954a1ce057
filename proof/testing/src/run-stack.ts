import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { waitFor } from '@pitboss/testing/wait-for'
import { type DemoFile, requireDemoFile } from '@pitboss/stack/demo-file'
import { endWithThisProcess } from './end-with-this-process.ts'

const main = fileURLToPath(new URL('../../../tools/stack/src/main.ts', import.meta.url))
/** Flags for every stack of the tests, such as `--images`. */
const givenFlags = (process.env.PITBOSS_STACK_FLAGS ?? '').split(' ').filter((flag) => flag !== '')
/** Time enough to build images. */
const readyWithinMs = givenFlags.includes('--images') ? 300_000 : 90_000

export type RunningStack = {
  dataDir: string
  demo(): DemoFile
  /** Everything that it printed so far, over all its starts. */
  printed(): string
  /** SIGKILLs one process by its name in demo.json and waits until another pid stands there. */
  killAndAwaitRestart(name: string): Promise<void>
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>
  /** Starts again on the same data folder. */
  start(extra?: readonly string[], environment?: NodeJS.ProcessEnv): Promise<void>
}

type Suite = { teardown(fn: () => Promise<void>): void }

/** `npm start` as a process of its own on free ports with a data folder of its own. */
export async function runStack(
  t: Suite,
  flags: readonly string[] = [],
  environment: NodeJS.ProcessEnv = {},
): Promise<RunningStack> {
  const dataDir = mkdtempSync(join(tmpdir(), 'pitboss-e2e-'))
  const logPath = join(dataDir, 'printed.log')
  let child: ChildProcess | null = null
  let printed = ''

  const demo = () => requireDemoFile(dataDir)
  const start = async (extra: readonly string[] = [], more: NodeJS.ProcessEnv = {}) => {
    const started = spawn(
      process.execPath,
      [main, '--port', '0', '--data-dir', dataDir, '--log', 'json', ...givenFlags, ...flags, ...extra],
      {
        env: { ...process.env, PITBOSS_LOG_LEVEL: 'warn', ...environment, ...more },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    child = started
    const leave = endWithThisProcess(started, dataDir)
    started.once('exit', leave)
    printed = ''
    for (const stream of [started.stdout, started.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        printed = (printed + chunk.toString()).slice(-200_000)
        appendFileSync(logPath, chunk)
        if (process.env.PITBOSS_E2E_LOG !== undefined) appendFileSync(process.env.PITBOSS_E2E_LOG, chunk)
      })
    }
    await waitFor(() => started.exitCode !== null || printed.includes('"msg":"stack.ready"'), {
      ...{ timeoutMs: readyWithinMs, what: 'the stack to be ready' },
    })
    if (started.exitCode !== null)
      throw new Error(`the stack ended with ${started.exitCode}:\n${printed.slice(-4000)}`)
  }
  const stop = async () => {
    const running = child
    if (running === null || running.exitCode !== null) return running?.exitCode ?? null
    const exited = once(running, 'exit')
    running.kill('SIGTERM')
    await exited
    return running.exitCode
  }
  t.teardown(async () => {
    await stop()
    rmSync(dataDir, { recursive: true, force: true })
  })
  await start()
  return {
    dataDir,
    demo,
    printed: () => readFileSync(logPath, 'utf8'),
    stop,
    start,
    async killAndAwaitRestart(name) {
      const before = demo().processes.find((each) => each.name === name)?.pid
      if (before === undefined || before === null) throw new Error(`there is no process ${name}`)
      process.kill(before, 'SIGKILL')
      await waitFor(
        () => {
          const now = demo().processes.find((each) => each.name === name)?.pid
          return now !== null && now !== before
        },
        { timeoutMs: 15_000, what: `${name} to be started again` },
      )
    },
  }
}
