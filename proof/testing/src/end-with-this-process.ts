import { type ChildProcess, spawn } from 'node:child_process'

/**
 * Ends a child when this process ends without its teardowns, as by an error outside of all tests: SIGTERM,
 * and its folder is removed once it is gone. Nothing waits for it.
 * @returns the function that leaves the child to others
 */
export function endWithThisProcess(child: ChildProcess, folder: string): () => void {
  const end = () => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    const remove = 'while kill -0 "$0" 2>/dev/null; do sleep 0.1; done; rm -rf "$1"'
    spawn('/bin/sh', ['-c', remove, String(child.pid), folder], { detached: true, stdio: 'ignore' }).unref()
  }
  process.once('exit', end)
  return () => void process.off('exit', end)
}
