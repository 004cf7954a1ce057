import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { waitFor } from '../src/wait-for.ts'

const main = fileURLToPath(new URL('./fixtures/throws-outside-main.ts', import.meta.url))

t.test('what a test file has started ends with it when it throws outside of all tests', async (t) => {
  const folder = t.testdir({ data: { left: 'behind' } })
  const { status, stderr } = spawnSync(process.execPath, [main, folder], { encoding: 'utf8' })
  t.not(status, 0)
  const pid = Number(/pid (\d+)/.exec(stderr)?.[1])
  t.ok(pid > 0, stderr)
  await waitFor(() => !isThere(pid), { what: 'the process to end' })
  await waitFor(() => !existsSync(folder), { what: 'its folder to be removed' })
})

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
