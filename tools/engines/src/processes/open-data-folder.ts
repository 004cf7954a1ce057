import { chmodSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { EngineError, errorCode, reasonOf } from '../engine-error.ts'
import { type Claim, claimFile } from './claim-file.ts'
import { type ProcessRecord, processRecord } from './process-record.ts'
import { startWatchdog } from './watchdog.ts'
import { waitUntil } from './wait-until.ts'

/** The data folder of one engine, ours alone until it is closed. */
export type DataFolder = { path: string; record: ProcessRecord; close(): Promise<void> }

const orphanTimeoutMs = 15_000

/**
 * Opens the data folder of an engine: makes it, claims it for this process, ends what a crashed starter left
 * running in it (its watchdog first, whose duty goes over to this process), and starts a watchdog of its own.
 * @param uses what the watchdog clears away besides: a folder of sockets, and what PostgreSQL's own children
 * still do in its data folder.
 * @throws EngineError when a living process holds it or it cannot be written.
 */
export async function openDataFolder(
  path: string,
  uses: { socketFolder?: string; dataPath?: string } = {},
): Promise<DataFolder> {
  makeFolder(path)
  const claim = claimFolder(path)
  const recordPath = join(path, 'processes')
  const record = processRecord(recordPath)
  try {
    await endOrphans(record, path)
  } catch (error) {
    claim.release()
    throw error
  }
  const watchdog = startWatchdog({ recordPath, record, ...uses })
  return {
    path,
    record,
    close: async () => {
      await watchdog.dismiss()
      record.delete()
      if (uses.socketFolder !== undefined) rmSync(uses.socketFolder, { recursive: true, force: true })
      claim.release()
    },
  }
}

function makeFolder(path: string): void {
  try {
    if (statSync(path, { throwIfNoEntry: false }) !== undefined) return
    mkdirSync(path, { recursive: true })
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
  const orphans = record.living()
  for (const { pid, signal } of orphans) kill(pid, `SIG${signal}`)
  const ended = await waitUntil(() => (record.living().length === 0 ? true : null), {
    timeoutMs: orphanTimeoutMs,
  })
  if (ended) return
  for (const { pid } of record.living()) kill(pid, 'SIGKILL')
  const killed = await waitUntil(() => (record.living().length === 0 ? true : null), { timeoutMs: 2_000 })
  if (killed) return
  const pids = record.living().map((entry) => entry.pid)
  throw new EngineError(
    `process ${pids.join(', ')} of an earlier start still holds ${path} and cannot be ended`,
  )
}

function kill(pid: number, signal: string): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (errorCode(error) !== 'ESRCH' && errorCode(error) !== 'EPERM') throw error
  }
}
