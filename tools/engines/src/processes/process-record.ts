import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { errorCode } from '../engine-error.ts'
import { isAlive, processStartedAt } from './process-identity.ts'

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
    remove: (pid) => change(living().filter((entry) => entry.pid !== pid)),
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
