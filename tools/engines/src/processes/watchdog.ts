import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { ProcessRecord } from './process-record.ts'

const script = fileURLToPath(new URL('./watchdog.sh', import.meta.url))

export type Watchdog = { pid: number; dismiss(): Promise<void> }

/**
 * Starts a small shell process of its own session that holds the other end of a pipe. When this process ends,
 * however it ends, the pipe closes and the watchdog ends what the record still names. Killed by somebody, it
 * is started again. It stands in the record itself, so that the next starter ends it before it takes the
 * folder over: it must not clear away what is new.
 */
export function startWatchdog({
  recordPath,
  record,
  socketFolder = '',
  dataPath = '',
}: {
  recordPath: string
  record: ProcessRecord
  socketFolder?: string
  dataPath?: string
}): Watchdog {
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
    get pid() {
      return child.pid ?? 0
    },
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
