import { channel } from 'node:diagnostics_channel'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Base, t } from 'tap'
import { judgeQueries } from '../judge-queries.ts'
import { madeDatabases } from '../made-databases.ts'
import { endRun, openRun, sharedCount } from '../run-end.ts'
import { waitFor } from '../wait-for.ts'
import { childrenCpuSeconds, ownCpuSeconds } from './cpu-seconds.ts'
import { recordQueries } from './record-queries.ts'
import { runningFile } from './running-file.ts'
import { endOfFile, type FileReport, type Order, type Ready } from './worker-messages.ts'

/**
 * A worker of `npm test`: imports the test files that the runner names, one after the other, each as one test
 * of this process. What a file changes of the process is put back after it; what it leaves open fails it.
 */
/** The runner starts a worker in the folder of the project. */
const root = process.cwd()
/** A socket takes a moment to close after the call that closes it. */
const closedWithinMs = 3_000

// A file has one limit, the runner's, which knows how fast this machine is.
Base.prototype.setTimeout = () => undefined

openRun()
const takeQueries = recordQueries()
const cpuSeconds = () => ownCpuSeconds() + childrenCpuSeconds()
let processes = 0
channel('child_process').subscribe(() => {
  processes += 1
})
process.on('message', (order: Order) => {
  // what a file left open has failed it already
  if ('done' in order) void endRun().then(() => process.exit())
  else if ('abort' in order) runningFile.test?.timeout()
  else void runFile(order.file).then((report) => process.send?.(report))
})

process.send?.({ ready: true } satisfies Ready)

async function runFile(file: string): Promise<FileReport> {
  const startedAt = performance.now()
  const before = {
    cpuS: cpuSeconds(),
    processes,
    databases: madeDatabases(),
    open: openResources(),
    shared: sharedCount(),
  }
  const environment = { ...process.env }
  const folder = process.cwd()
  let checks = 0
  const result = await t.test(file, async (test) => {
    runningFile.path = file
    runningFile.test = test
    test.on('complete', ({ count }) => {
      checks = count
    })
    await import(pathToFileURL(join(root, file)).href)
  })
  // what this file has opened for the files after it, too, stays open
  const open = sharedCount() > before.shared ? [] : await leftOpen(before.open)
  const complaints = [...exitComplaint(), ...open, ...(await judgeQueries(takeQueries()))]
  process.chdir(folder)
  putBack(environment)
  process.stdout.write(`${endOfFile(file)}\n`)
  // tap releases the channel to the runner when it prints first; without it nothing waits for the next file
  process.channel?.ref()
  return {
    file,
    ok: result?.ok === true && complaints.length === 0,
    checks,
    complaints,
    wallS: (performance.now() - startedAt) / 1000,
    cpuS: cpuSeconds() - before.cpuS,
    databases: madeDatabases() - before.databases,
    processes: processes - before.processes,
  }
}

/** A file that sets an exit code of its own has failed, whatever its tests say. */
function exitComplaint(): string[] {
  const code = process.exitCode ?? 0
  process.exitCode = 0
  return code === 0 ? [] : [`it set the exit code ${code}`]
}

/** Waits until nothing more keeps this process alive than before the file. */
async function leftOpen(before: ReadonlyMap<string, number>): Promise<string[]> {
  const left = () =>
    [...openResources()].filter(([kind, count]) => count > (before.get(kind) ?? 0)).map(([kind]) => kind)
  await waitFor(() => left().length === 0, { timeoutMs: closedWithinMs }).catch(() => undefined)
  return left().map((kind) => `it left a ${kind} open, which would keep its process alive`)
}

function openResources(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

function putBack(environment: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name]
  Object.assign(process.env, environment)
}
