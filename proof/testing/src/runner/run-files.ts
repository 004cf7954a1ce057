import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Kind, TestFile } from './choose-files.ts'
import { endOfFile, type FileReport, type Order, type Ready } from './worker-messages.ts'

const program = fileURLToPath(new URL('./worker-main.ts', import.meta.url))
const hooks = fileURLToPath(new URL('./worker-hooks.cts', import.meta.url))
/** A worker that was asked to stop its file prints where it stands, and is then killed. */
const lastWordsMs = 2_000
/** A worker without a file has nothing to do but to end. */
const endWithinMs = 10_000

export type FileResult = FileReport & {
  readonly kind: Kind
  readonly output: string
  readonly timedOut: boolean
}

export type RunOptions = {
  readonly root: string
  readonly env: NodeJS.ProcessEnv
  /** Workers by what their files need. */
  readonly workers: Readonly<Record<Kind, number>>
  /** A file that takes longer has failed. */
  readonly limitMs: (path: string) => number
  readonly expectedS: (path: string) => number
  readonly onResult: (result: FileResult) => void
  readonly stopping: AbortSignal
}

/** Runs the files in worker processes; each runs many, one after the other. Resolves when all have ended. */
export async function runFiles(files: readonly TestFile[], options: RunOptions): Promise<void> {
  const lanes = (['product', 'engines', 'pure'] as const).flatMap((kind) => {
    const queue = files
      .filter((file) => file.kind === kind)
      .toSorted((a, b) => options.expectedS(b.path) - options.expectedS(a.path))
    const count = Math.min(options.workers[kind], queue.length)
    return Array.from({ length: count }, () => runQueue(queue, options))
  })
  await Promise.all(lanes)
}

/** One worker after the other until the queue is empty: another only where one has died. */
async function runQueue(queue: TestFile[], options: RunOptions): Promise<void> {
  while (queue.length > 0 && !options.stopping.aborted) {
    const worker = startWorker(options)
    let last: TestFile | null = null
    for (;;) {
      last = options.stopping.aborted ? null : takeNext(queue, last)
      if (last === null) break
      const result = await worker.run(last)
      options.onResult(result)
      if (worker.hasDied()) break
    }
    await worker.end()
  }
}

/** A file of the workspace whose modules the worker has loaded already, else the longest. */
function takeNext(queue: TestFile[], last: TestFile | null): TestFile | null {
  const workspace = (file: TestFile) => file.path.split('/').slice(0, 2).join('/')
  const at = last === null ? -1 : queue.findIndex((file) => workspace(file) === workspace(last))
  return queue.splice(Math.max(at, 0), 1)[0] ?? null
}

/** Settings of the product and of terminals, which a person or a CI may have set for something else. */
const settings = /^(CI|FORCE_COLOR|PORT|NODE_ENV|MONGODB_URL|NATS_URL|PITBOSS_.*)$/
/** Of these, the ones that are about tests. */
const ofTests = /^PITBOSS_(TEST_.*|E2E_.*|STACK_FLAGS|CACHE_DIR)$/

/** The environment as tests see it: alike wherever they run. */
function ofTheMachine(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !settings.test(name) || ofTests.test(name)),
  )
}

function startWorker({ root, env, limitMs, stopping }: RunOptions) {
  const child = spawn(process.execPath, ['--require', hooks, program], {
    cwd: root,
    env: { ...ofTheMachine(process.env), ...env, NO_COLOR: '1', TAP_TIMEOUT: '0' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const exited = once(child, 'exit')
  const kill = () => child.kill('SIGKILL')
  stopping.addEventListener('abort', kill)
  const hasDied = () => child.exitCode !== null || child.signalCode !== null
  const output = collectOutput(child)
  // it loads tap first, which takes a while on a busy machine and is not the first file's time
  const ready = Promise.race([isReady(child), exited])

  async function run({ path, kind }: TestFile): Promise<FileResult> {
    await ready
    const startedAt = performance.now()
    const limit = limitMs(path)
    let timedOut = false
    const timer = setTimeout(() => {
      timedOut = true
      child.send({ abort: true } satisfies Order, () => undefined)
      setTimeout(kill, lastWordsMs)
    }, limit)
    const order: Order = { file: path }
    // one that has died meanwhile is told by its exit
    child.send(order, () => undefined)
    const report = await Promise.race([nextReport(child), exited.then(() => undefined)])
    clearTimeout(timer)
    if (report !== undefined && !timedOut)
      return { ...report, kind, timedOut, output: await output.until(endOfFile(path)) }
    await exited
    const complaint = timedOut
      ? `it did not end within ${(limit / 1000).toFixed(0)} s`
      : `its process ended (${child.signalCode ?? child.exitCode})`
    return {
      ...{ file: path, kind, timedOut, ok: false, checks: 0, complaints: [complaint], output: output.rest() },
      ...{ wallS: (performance.now() - startedAt) / 1000, cpuS: 0, databases: 0, processes: 0 },
    }
  }

  return {
    run,
    hasDied,
    async end() {
      if (hasDied()) return
      const order: Order = { done: true }
      // it may end at this moment
      child.send(order, () => undefined)
      const timer = setTimeout(kill, endWithinMs)
      await exited
      clearTimeout(timer)
      stopping.removeEventListener('abort', kill)
    },
  }
}

const isReady = (child: ChildProcess) => nextMessage(child, (message): message is Ready => 'ready' in message)
const nextReport = (child: ChildProcess) =>
  nextMessage(child, (message): message is FileReport => 'file' in message)

/** tap sends messages of its own, the first of them before the worker has loaded. */
function nextMessage<T extends object>(
  child: ChildProcess,
  isWanted: (message: object) => message is T,
): Promise<T> {
  return new Promise((resolve) => {
    const listen = (message: object) => {
      if (!isWanted(message)) return
      child.off('message', listen)
      resolve(message)
    }
    child.on('message', listen)
  })
}

/** What a worker prints, cut where it says that a file has ended. */
function collectOutput({ stdout, stderr }: ChildProcess) {
  let text = ''
  let wake = () => {}
  for (const stream of [stdout, stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      wake()
    })
  }
  return {
    async until(mark: string): Promise<string> {
      for (;;) {
        const at = text.indexOf(`${mark}\n`)
        if (at !== -1) {
          const before = text.slice(0, at)
          text = text.slice(at + mark.length + 1)
          return before
        }
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
    rest: () => text,
  }
}
