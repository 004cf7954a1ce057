import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { errorCode } from '../engine-error.ts'

type RecordedProcess = { pid: number; startedAt: string; signal: string; name: string }

/** The processes that belong to a data folder, in a file that the watchdog and the next starter can read. */
export type ProcessRecord = {
  add(process: { pid: number; signal: NodeJS.Signals; name: string }): void
  remove(pid: number): void
  /** The recorded processes that still live, whoever started them. */
  living(): RecordedProcess[]
  delete(): void
}

/**
 * One line each: pid, start time, the signal that ends it in good order, name. `watchdog.sh` reads the same.
 */
export function processRecord(path: string): ProcessRecord {
  const change = (entries: RecordedProcess[]) => {
    const lines = entries.map((e) => `${e.pid} ${e.startedAt} ${e.signal.replace('SIG', '')} ${e.name}\n`)
    writeFileSync(`${path}.new`, lines.join(''))
    renameSync(`${path}.new`, path)
  }
  const living = () => read(path).filter((entry) => isAlive(entry.pid, entry.startedAt))
  return {
    add: ({ pid, signal, name }) => {
      const startedAt = processStartedAt(pid)
      if (startedAt !== null) change([...living(), { pid, startedAt, signal, name }])
    },
    remove(pid) {
      try {
        change(living().filter((entry) => entry.pid !== pid))
      } catch (error) {
        // On a full disk the line stays. It names a process that has ended, which every reader finds out.
        if (errorCode(error) !== 'ENOSPC') throw error
      }
    },
    living,
    delete: () => rmSync(path, { force: true }),
  }
}

function read(path: string): RecordedProcess[] {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return []
    throw error
  }
  return text.split('\n').flatMap((line) => {
    const [pid, startedAt, signal, name] = line.split(' ')
    if (pid === undefined || startedAt === undefined || signal === undefined || name === undefined) return []
    return [{ pid: Number(pid), startedAt, signal, name }]
  })
}

const hasProc = existsSync('/proc/self/stat')

/**
 * Start time of a process, as a word that only equals itself: with the pid it names one process for good, so
 * that a pid that was given to another process is never taken for ours. Null when there is no such (living)
 * process.
 */
export function processStartedAt(pid: number): string | null {
  return hasProc ? fromProc(pid) : fromPs(pid)
}

/** Whether the very process that was recorded still lives. */
export function isAlive(pid: number, startedAt: string): boolean {
  return processStartedAt(pid) === startedAt
}

function fromProc(pid: number): string | null {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return null
  }
  // the name in parentheses may hold anything, so count from its end: state is field 3, the start time field
  // 22
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const ended = fields[0] === 'Z' || fields[0] === 'X'
  return ended ? null : (fields[19] ?? null)
}

function fromPs(pid: number): string | null {
  try {
    const text = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim()
    return text === '' ? null : text.replaceAll(/\s+/g, '_')
  } catch {
    return null
  }
}

/** Sends a signal to a process that may have ended meanwhile or be another user's. */
export function killIfThere(pid: number, signal: string): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (errorCode(error) !== 'ESRCH' && errorCode(error) !== 'EPERM') throw error
  }
}
