import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { EngineError, errorCode, reasonOf } from '../engine-error.ts'
import { type Claim, claimFile } from './claim-file.ts'
import { makeFolder } from './make-folder.ts'
import { killIfThere, processRecord, type ProcessRecord } from './process-record.ts'
import { waitUntil } from './wait-until.ts'

/** The data folder of one engine, ours alone until it is closed. */
type DataFolder = { record: ProcessRecord; close(): Promise<void> }

const orphanTimeoutMs = 15_000

/**
 * Opens the data folder of an engine: makes it, claims it for this process, ends what a crashed starter left
 * running in it (its watchdog first, whose duty goes over to this process), and starts a watchdog of its own.
 * @param uses what the watchdog clears away besides: a folder of sockets, and what PostgreSQL's own children
 * still do in its data folder.
 * @throws EngineError when a living process holds it or it cannot be written.
 */
export async function openDataFolder(path: string, uses: DataFolderUses = {}): Promise<DataFolder> {
  makeDataFolder(path)
  const claim = claimFolder(path)
  const recordPath = join(path, 'processes')
  const record = processRecord(recordPath)
  try {
    await endOrphans(record, path)
  } catch (error) {
    claim.release()
    throw error
  }
  const watchdog = startWatchdog(recordPath, record, uses)
  return {
    record,
    close: async () => {
      await watchdog.dismiss()
      record.delete()
      if (uses.socketFolder !== undefined) rmSync(uses.socketFolder, { recursive: true, force: true })
      claim.release()
    },
  }
}

function makeDataFolder(path: string): void {
  try {
    if (statSync(path, { throwIfNoEntry: false }) !== undefined) return
    makeFolder(path)
    chmodSync(path, 0o755)
  } catch (error) {
    throw new EngineError(`the data folder ${path} cannot be made: ${reasonOf(error)}`)
  }
}

function claimFolder(path: string): Claim {
  let result: ReturnType<typeof claimFile>
  try {
    result = claimFile(join(path, 'lock'))
  } catch (error) {
    if (errorCode(error) === 'ENOSPC') throw new EngineError(`the disk of the data folder ${path} is full`)
    throw new EngineError(`the data folder ${path} cannot be written: ${reasonOf(error)}`)
  }
  if ('claim' in result) return result.claim
  throw new EngineError(
    `the data folder ${path} is in use by process ${result.heldBy}; stop that one, or choose another folder with --data-dir`,
  )
}

async function endOrphans(record: ProcessRecord, path: string): Promise<void> {
  for (const { pid, signal } of record.living()) killIfThere(pid, `SIG${signal}`)
  const haveEnded = () => (record.living().length === 0 ? true : null)
  if (await waitUntil(haveEnded, { timeoutMs: orphanTimeoutMs })) return
  for (const { pid } of record.living()) killIfThere(pid, 'SIGKILL')
  if (await waitUntil(haveEnded, { timeoutMs: 2_000 })) return
  const pids = record.living().map((entry) => entry.pid)
  throw new EngineError(
    `process ${pids.join(', ')} of an earlier start still holds ${path} and cannot be ended`,
  )
}

const script = fileURLToPath(new URL('./watchdog.sh', import.meta.url))

type DataFolderUses = { socketFolder?: string; dataPath?: string }
type Watchdog = { dismiss(): Promise<void> }

/**
 * Starts a small shell process of its own session that holds the other end of a pipe. When this process ends,
 * however it ends, the pipe closes and the watchdog ends what the record still names. Killed by somebody, it
 * is started again. It stands in the record itself, so that the next starter ends it before it takes the
 * folder over: it must not clear away what is new.
 */
function startWatchdog(
  recordPath: string,
  record: ProcessRecord,
  { socketFolder = '', dataPath = '' }: DataFolderUses,
): Watchdog {
  let dismissed = false
  const begin = () => {
    const started = spawn('/bin/sh', [script, recordPath, socketFolder, dataPath], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    started.unref()
    started.stdin.on('error', () => {})
    const { pid } = started
    if (pid !== undefined) record.add({ pid, signal: 'SIGKILL', name: 'watchdog' })
    started.on('exit', () => {
      if (dismissed) return
      if (pid !== undefined) record.remove(pid)
      child = begin()
    })
    return started
  }
  let child = begin()
  return {
    dismiss: async () => {
      dismissed = true
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.ref()
      child.stdin.end()
      await ended
    },
  }
}
