import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { z } from 'zod'
import { processStartedAt } from '../../src/processes/process-record.ts'
import { processesOf } from '../fixtures/processes-of.ts'
import { temporaryFolder } from '../fixtures/temporary-folder.ts'

const starter = fileURLToPath(new URL('../fixtures/starter-main.ts', import.meta.url))
const ready = z.object({ mongodbUrl: z.string(), natsUrl: z.string(), pids: z.array(z.number()).length(3) })

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)
}

async function start(folder: string): Promise<{ child: ChildProcess; pids: number[] }> {
  const child = spawn(process.execPath, [starter, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(child.stdout, 'data')
  return { child, pids: ready.parse(JSON.parse(String(line))).pids }
}

/** Nothing of the starter lives and none of its sockets is left. */
async function nothingLeft(t: Tap, folder: string, pids: number[]): Promise<void> {
  await waitFor(() => processesOf(folder).length === 0, {
    what: 'the end of all processes',
  })
  t.strictSame(pids.map(processStartedAt), [null, null, null])
  t.notOk(existsSync(join(folder, 'documentdb/sock')))
}
type Tap = { strictSame(found: unknown, wanted: unknown): unknown; notOk(found: unknown): unknown }

await t.test('a starter that is killed leaves nothing behind, and the next one starts at once', async (t) => {
  const folder = temporaryFolder(t)
  const { child, pids } = await start(folder)
  child.kill('SIGKILL')
  await nothingLeft(t, folder, pids)
  const again = await start(folder)
  again.child.kill('SIGINT')
  await once(again.child, 'exit')
  await nothingLeft(t, folder, again.pids)
})

await t.test(
  'a starter that is started again while its killed forerunner is being cleaned up waits for that',
  async (t) => {
    const folder = temporaryFolder(t)
    const first = await start(folder)
    first.child.kill('SIGKILL')
    await once(first.child, 'exit')
    const second = await start(folder)
    t.ok(second.pids.every((pid) => processStartedAt(pid) !== null))
    second.child.kill('SIGINT')
    await once(second.child, 'exit')
    await nothingLeft(t, folder, [...second.pids])
  },
)

await t.test('a second Ctrl-C ends the starter at once, and the engines follow', async (t) => {
  const folder = temporaryFolder(t)
  const { child, pids } = await start(folder)
  child.kill('SIGINT')
  child.kill('SIGINT')
  await once(child, 'exit')
  await nothingLeft(t, folder, pids)
})

await t.test(
  'a worker that outlived its killed postmaster ends with the starter, and so does one that a new starter meets',
  async (t) => {
    const folder = temporaryFolder(t)
    for (const end of ['SIGKILL', 'SIGINT'] as const) {
      const { child, pids } = await start(folder)
      const [postgres = 0] = pids
      // a worker that does not leave by itself: it is stopped while its postmaster is killed
      const [worker = 0] = childrenOf(postgres)
      process.kill(worker, 'SIGSTOP')
      const workerStartedAt = processStartedAt(worker)
      process.kill(postgres, 'SIGKILL')
      child.kill(end)
      await once(child, 'exit')
      await nothingLeft(t, folder, pids)
      t.not(processStartedAt(worker), workerStartedAt, `after ${end}`)
    }
  },
)

await t.test(
  'the next starter ends the watchdog of a killed one before it can clear away what is new',
  async (t) => {
    const folder = temporaryFolder(t)
    const first = await start(folder)
    const watchdogs = processesOf(folder)
      .filter((line) => line.includes('watchdog.sh'))
      .map((line) => Number.parseInt(line, 10))
    t.equal(watchdogs.length, 2)
    for (const watchdog of watchdogs) process.kill(watchdog, 'SIGSTOP')
    first.child.kill('SIGKILL')
    await once(first.child, 'exit')
    const second = await start(folder)
    t.strictSame(watchdogs.map(processStartedAt), [null, null])
    t.ok(second.pids.every((pid) => processStartedAt(pid) !== null))
    second.child.kill('SIGINT')
    await once(second.child, 'exit')
    await nothingLeft(t, folder, second.pids)
  },
)
