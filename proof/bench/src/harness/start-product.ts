import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type DemoFile, requireDemoFile } from '@pitboss/stack/demo-file'
import type { Cleanup } from './cleanup.ts'

const ownEntry = fileURLToPath(new URL('../../../../tools/stack/src/main.ts', import.meta.url))
const readyWithinMs = 120_000
const stopWithinMs = 60_000
const wordsKept = 4000

export type Product = {
  dataDir: string
  pid: number
  /** `demo.json` as it is now; it follows restarts. */
  demo(): DemoFile
  /** Whether the runner itself still lives. */
  alive(): boolean
  stop(): Promise<void>
}

/** Runs the product as `npm start` does, on a free port; its log lines go to `logPath`. */
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
  const child = spawn(
    process.execPath,
    [entry, '--port', '0', '--data-dir', dataDir, '--log', 'json', ...flags],
    {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      // Ctrl-C in the terminal is ours to handle: the product ends by `stop`.
      detached: true,
    },
  )
  const log = createWriteStream(logPath)
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>()
  let words = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.pipe(log, { end: false })
    stream.on('data', (chunk: Buffer) => {
      words = (words + chunk.toString()).slice(-wordsKept)
      if (words.includes('"msg":"stack.ready"')) resolve()
    })
  }
  child.once('exit', (code) => reject(new Error(`the product ended with ${code}:\n${words}`)))
  const tooLate = setTimeout(() => reject(new Error(`the product was not ready:\n${words}`)), readyWithinMs)
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
  await ready.finally(() => clearTimeout(tooLate))
  if (child.pid === undefined) throw new Error('the product has no process')
  return { dataDir, pid: child.pid, demo: () => requireDemoFile(dataDir), alive, stop }
}
