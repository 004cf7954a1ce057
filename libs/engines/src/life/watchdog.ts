import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(new URL('./watchdog.sh', import.meta.url))

export type Watchdog = { pid: number; dismiss(): Promise<void> }

/**
 * Starts a small shell process of its own session that holds the other end of a pipe. When this process ends, however
 * it ends, the pipe closes and the watchdog ends what the record still names. Killed by somebody, it is started again.
 */
export function startWatchdog({
  recordPath,
  socketFolder,
}: {
  recordPath: string
  socketFolder: string | null
}): Watchdog {
  let dismissed = false
  const begin = () => {
    const started = spawn('/bin/sh', [script, recordPath, socketFolder ?? ''], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    started.unref()
    started.stdin.on('error', () => {})
    started.on('exit', () => {
      if (!dismissed) child = begin()
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
