import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** Runs the file of uncaught errors as `npm test` runs a test file; gives tap's answer. */
function runWith(wrong: string): { code: number | null; answer: string } {
  const args = ['--require', path('../src/runner/worker-hooks.cts'), path('fixtures/uncaught-errors-main.ts')]
  const env = { PATH: process.env.PATH, WRONG: wrong }
  const { status, stdout } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
  return { code: status, answer: stdout }
}

await t.test('a file in which nothing goes wrong passes', async (t) => {
  const { code, answer } = runWith('nothing')
  t.equal(code, 0, 'exit code', { answer })
  t.match(answer, /^ok 3 - a test behind/m)
})

for (const [wrong, message] of [
  ['timer', 'thrown in a timer'],
  ['rejection', 'a promise nobody awaits'],
] as const)
  await t.test(`an uncaught error fails the test that runs (${wrong}), and no other`, async (t) => {
    const { code, answer } = runWith(wrong)
    t.equal(code, 1, 'exit code', { answer })
    t.match(answer, /^ok 1 - a test before/m)
    t.match(answer, /^not ok 2 - a test in which something goes wrong/m)
    t.match(answer, new RegExp(`not ok \\d+ - ${message}`))
    t.match(answer, /^ok 3 - a test behind/m)
  })
