import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type DemoFile, requireDemoFile } from '@pitboss/stack/demo-file'
import type { Cleanup } from './cleanup.ts'

const ownEntry = fileURLToPath(new URL('../../../../tools/stack/src/main.ts', import.meta.url))
const readyWithinMs = 120_000
const stopWithinMs = 60_000
const lookEveryMs = 50
const [errorsShown, charactersShown] = [3, 4000]

export type Product = {
  dataDir: string
  pid: number
  /** `demo.json` as it is now; it follows restarts. */
  demo(): DemoFile
  /** Whether the runner itself still lives. */
  alive(): boolean
  stop(): Promise<void>
}

/** Runs the product as `npm start` does, on a free port; its log lines go to `logPath`, past this process. */
export async function startProduct({
  dataDir,
  logPath,
  flags = [],
  environment,
  entry = ownEntry,
  cleanup,
}: {
  dataDir: string
  logPath: string
  flags?: readonly string[]
  environment: NodeJS.ProcessEnv
  /** Of another build. */
  entry?: string
  cleanup: Cleanup
}): Promise<Product> {
  const log = openSync(logPath, 'w')
  const child = spawn(
    process.execPath,
    [entry, '--port', '0', '--data-dir', dataDir, '--log', 'json', ...flags],
    {
      env: { ...process.env, ...environment },
      stdio: ['ignore', log, log],
      // Ctrl-C in the terminal is ours to handle: the product ends by `stop`.
      detached: true,
    },
  )
  closeSync(log)
  const lines = () => readFileSync(logPath, 'utf8')
  const alive = () => child.exitCode === null && child.signalCode === null
  const stop = async () => {
    if (!alive()) return
    const exited = once(child, 'exit')
    child.kill('SIGTERM')
    const force = setTimeout(() => child.kill('SIGKILL'), stopWithinMs)
    await exited
    clearTimeout(force)
  }
  cleanup.add(stop)
  const untilMs = performance.now() + readyWithinMs
  while (!lines().includes('"msg":"stack.ready"')) {
    if (!alive()) throw new Error(`the product ended with ${child.exitCode}:\n${whyOf(lines())}`)
    if (performance.now() > untilMs) throw new Error(`the product was not ready:\n${whyOf(lines())}`)
    await delay(lookEveryMs)
  }
  if (child.pid === undefined) throw new Error('the product has no process')
  return { dataDir, pid: child.pid, demo: () => requireDemoFile(dataDir), alive, stop }
}

/** The part of a log that says why: its first errors, which much may have followed, and its end. */
function whyOf(log: string): string {
  const errors = log.split('\n').filter((line) => /^\{"level":"(error|fatal)"/.test(line))
  return [...errors.slice(0, errorsShown), log.slice(-charactersShown)].join('\n')
}
