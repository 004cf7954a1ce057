import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, renameSync, statSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { EngineError } from '../engine-error.ts'
import type { ProcessRecord } from './process-record.ts'

export type EngineCommand = {
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
    ...(env === undefined ? {} : { env }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(uid === undefined ? {} : { uid }),
    ...(gid === undefined ? {} : { gid }),
  })
  closeSync(log)
  const pid = child.pid
  if (pid === undefined) {
    const [error] = await once(child, 'error')
    throw new EngineError(`${name} could not be started: ${error instanceof Error ? error.message : error}`)
  }
  record.add({ pid, signal: endBy[0]?.signal ?? 'SIGTERM', name })
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
