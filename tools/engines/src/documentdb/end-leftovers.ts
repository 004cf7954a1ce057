import { existsSync, readFileSync, readdirSync, readlinkSync, realpathSync } from 'node:fs'
import { errorCode } from '../engine-error.ts'

/**
 * Ends every PostgreSQL process that still works in a data folder: a worker of a postmaster that was killed
 * can spin for ever and hold the shared memory that a new server needs. To be called only by who has claimed
 * the folder and has no server of his own on it at that moment, so that nothing in it is anybody else's.
 * Linux only, as DocumentDB is.
 */
export function endLeftovers(dataPath: string): void {
  if (!existsSync(dataPath)) return
  for (const name of readdirSync('/proc')) {
    const pid = Number(name)
    if (Number.isInteger(pid) && runsOn(pid, dataPath)) killIfThere(pid)
  }
}

/**
 * Whether a process is PostgreSQL's and works in this data folder: each of its processes goes there at its
 * start. Where that may not be read (root without its rights, another user's process) its arguments decide.
 */
export function runsOn(pid: number, dataPath: string): boolean {
  const line = readOr('', () => readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
  if (!/(^|\/bin\/)postgres\b/.test(line)) return false
  const folder = readOr(null, () => readlinkSync(`/proc/${pid}/cwd`))
  return folder === null ? line.split('\0').includes(dataPath) : folder === realpathSync(dataPath)
}

/** A process may end between two looks, or belong to another user. */
function readOr<Value>(otherwise: Value, read: () => Value): Value {
  try {
    return read()
  } catch {
    return otherwise
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error
  }
}
