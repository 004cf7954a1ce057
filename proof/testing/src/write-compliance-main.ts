import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { clauses, greenRunOf, keyOfTest } from '@pitboss/contracts/compliance'

/**
 * `npm run compliance`: runs the tests of every clause, keeps the time at which each passed, and writes
 * docs/compliance.md. A test that fails keeps its last green run; the command then exits 1.
 */
const root = fileURLToPath(new URL('../../../', import.meta.url))
const runsFile = `${root}libs/contracts/src/green-runs.ts`
const outputMaxBytes = 256 * 1024 * 1024

const tests = clauses.flatMap((clause) => clause.tests)
const files = [...new Set(tests.map(({ file }) => file))]
const ran = spawnSync(process.execPath, [`${root}proof/testing/src/run-tests.ts`, ...files], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: outputMaxBytes,
})
const passed = passedIn(ran.stdout)
const failed = [...new Set(tests.map(keyOfTest))].filter((key) => !passed.has(key))
for (const key of failed) console.error(`did not pass: ${key}`)
writeRuns()
// The page is rendered by a process of its own, which reads the runs that were just written.
const rendered = spawnSync(process.execPath, [`${root}proof/testing/src/render-compliance-main.ts`], {
  encoding: 'utf8',
})
if (rendered.status !== 0) throw new Error(rendered.stderr)
writeFileSync(`${root}docs/compliance.md`, rendered.stdout)
process.exitCode = failed.length === 0 ? 0 : 1

/** Keys of the tests that passed in the output of tap: `ok` lines one level below their file. */
function passedIn(output: string): Set<string> {
  const keys = new Set<string>()
  let file = ''
  for (const text of output.split('\n')) {
    const opened = /^# Subtest: (.+)$/.exec(text)
    if (opened !== null) file = opened[1] ?? ''
    const ok = /^ {4}ok \d+ - (.+?)(?: # time=.*)?$/.exec(text)
    if (ok !== null) keys.add(keyOfTest({ file, name: ok[1] ?? '' }))
  }
  return keys
}

function writeRuns(): void {
  const [comment = ''] = /^\/\*\*[^]*?\*\/\n/.exec(readFileSync(runsFile, 'utf8')) ?? []
  const now = new Date().toISOString()
  const runs = new Map(tests.map((test) => [keyOfTest(test), greenRunOf(test)]))
  for (const key of passed) if (runs.has(key)) runs.set(key, now)
  const lines = [...runs]
    .filter(([, at]) => at !== null)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, at]) => `  ${quoted(key)}:\n    ${quoted(at ?? '')},\n`)
  const body = lines.length === 0 ? '{}' : `{\n${lines.join('')}}`
  writeFileSync(runsFile, `${comment}export const greenRuns: Readonly<Record<string, string>> = ${body}\n`)
}

/** A string of the source, as the formatter writes it. */
function quoted(text: string): string {
  return text.includes("'") ? JSON.stringify(text) : `'${text}'`
}
