import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import type { ChaosReport } from '../src/run-chaos.ts'

t.test('killed, paused and lied to, the product loses no money, no round and no event', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'pitboss-chaos-report-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'report.json')
  const main = fileURLToPath(new URL('fixtures/chaos-run-main.ts', import.meta.url))
  const run = spawn(process.execPath, [main, path], { stdio: ['ignore', 'ignore', 'inherit'] })
  t.teardown(() => run.kill())
  t.strictSame(await once(run, 'exit'), [0, null], 'the run came to its end')
  const report = JSON.parse(readFileSync(path, 'utf8')) as ChaosReport
  for (const { name, checked, violations } of report.invariants) {
    t.strictSame(violations.slice(0, 5), [], `${name} (${checked} looks)`)
  }
  const kills = Object.entries(report.faults).flatMap(([name, count]) =>
    name.startsWith('kill') ? [count] : [],
  )
  t.ok(kills.length > 0, 'processes were killed')
  t.ok((report.counts.movements ?? 0) > 20, 'money was moved')
  t.comment(JSON.stringify({ counts: report.counts, faults: report.faults, healing: report.healing }))
})
