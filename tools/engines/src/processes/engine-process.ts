import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { EngineError, reasonOf } from '../engine-error.ts'
import type { ProcessRecord } from './process-record.ts'

/** Logger of the engines; a pino logger fits. */
export type EngineLogger = {
  info(fields: Record<string, unknown>, message: string): void
  warn(fields: Record<string, unknown>, message: string): void
  error(fields: Record<string, unknown>, message: string): void
}

const nothing = () => {}

export const silentLogger: EngineLogger = { info: nothing, warn: nothing, error: nothing }

type EngineCommand = {
  name: string
  program: string
  args: string[]
  env?: NodeJS.ProcessEnv
  cwd?: string
  uid?: number
  gid?: number
  logPath: string
  /** Signals from gentle to sure, with the time each is given. */
  endBy: { signal: NodeJS.Signals; waitMs: number }[]
  /**
   * Whether standard input and output are pipes; a program that ends with its input ends with this process.
   */
  piped?: boolean
}

export type EngineProcess = {
  pid: number
  child: ChildProcess
  /** Resolves when it is gone, with how. */
  exited: Promise<string>
  hasExited(): boolean
  end(): Promise<void>
}

const logBytesMax = 16 * 1024 * 1024

/**
 * Starts a program in a session of its own (a Ctrl-C in the terminal is ours to handle, not its), writes what
 * it says to a log file and notes it in the record of its data folder for as long as it lives.
 */
export async function startEngineProcess(
  command: EngineCommand,
  record: ProcessRecord,
): Promise<EngineProcess> {
  const { name, program, args, env, cwd, uid, gid, logPath, endBy, piped = false } = command
  const log = openLog(logPath)
  const child = spawn(program, args, {
    detached: true,
    stdio: piped ? ['pipe', 'pipe', log] : ['ignore', log, log],
    env,
    cwd,
    uid,
    gid,
  })
  closeSync(log)
  const pid = child.pid
  if (pid === undefined) {
    const [error] = await once(child, 'error')
    throw new EngineError(`${name} could not be started: ${error instanceof Error ? error.message : error}`)
  }
  try {
    record.add({ pid, signal: endBy[0]?.signal ?? 'SIGTERM', name })
  } catch (error) {
    // Nobody would end one that is not recorded.
    child.kill('SIGKILL')
    throw error
  }
  child.stdin?.on('error', () => {})
  let gone = false
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => {
      gone = true
      record.remove(pid)
      resolve(signal === null ? `exit code ${code}` : `signal ${signal}`)
    })
  })
  return { pid, child, exited, hasExited: () => gone, end: () => end(child, exited, () => gone, endBy) }
}

async function end(
  child: ChildProcess,
  exited: Promise<string>,
  hasExited: () => boolean,
  endBy: EngineCommand['endBy'],
): Promise<void> {
  for (const { signal, waitMs } of endBy) {
    if (hasExited()) return
    child.kill(signal)
    const timer = new AbortController()
    await Promise.race([exited, delay(waitMs, undefined, { signal: timer.signal }).catch(() => {})])
    timer.abort()
  }
  if (hasExited()) return
  child.kill('SIGKILL')
  await exited
}

function openLog(path: string): number {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > logBytesMax) renameSync(path, `${path}.1`)
  return openSync(path, 'a', 0o600)
}

export type Supervised = { pid: () => number; stop: () => Promise<void> }

const retryDelayMsMin = 50
const retryDelayMsMax = 1_000

/**
 * Runs a process and starts it again whenever it ends. The first start must succeed, else its error is
 * thrown; later failures (a full disk, say) are logged when the reason changes and tried again, at most a
 * second apart, until it heals.
 */
export async function supervise(options: {
  name: string
  /** Starts the process and resolves when it is ready to serve; ends what it started when `signal` aborts. */
  start: (signal: AbortSignal) => Promise<EngineProcess>
  logger: EngineLogger
}): Promise<Supervised> {
  const { name, start, logger } = options
  const stopping = new AbortController()
  let current = await start(stopping.signal)

  async function restart(how: string): Promise<void> {
    logger.warn({ engine: name, how }, 'engine.died')
    const diedAt = performance.now()
    let lastReason = ''
    for (
      let waitMs = retryDelayMsMin;
      !stopping.signal.aborted;
      waitMs = Math.min(waitMs * 2, retryDelayMsMax)
    ) {
      try {
        current = await start(stopping.signal)
        logger.info(
          { engine: name, pid: current.pid, down_ms: Math.round(performance.now() - diedAt) },
          'engine.restarted',
        )
        return
      } catch (error) {
        if (stopping.signal.aborted) return
        if (reasonOf(error) !== lastReason)
          logger.error({ engine: name, reason: reasonOf(error) }, 'engine.restart_failed')
        lastReason = reasonOf(error)
      }
      await delay(waitMs, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }

  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      const how = await current.exited
      if (!stopping.signal.aborted) await restart(how)
    }
  }

  const watching = watch()
  return {
    pid: () => current.pid,
    stop: async () => {
      stopping.abort()
      await current.end()
      await watching
      await current.end()
    },
  }
}

/** For an error: what of the last `count` lines of a log looks bad, else these lines, and where it lies. */
export function lastWords(logPath: string, count: number, bad: RegExp): string {
  const lines = readFileSync(logPath, 'utf8').trim().split('\n').slice(-count)
  const found = lines.filter((line) => bad.test(line))
  return `${(found.length > 0 ? found : lines).join(' · ').slice(-600)} (${logPath})`
}
