import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { describeHistory } from '../../src/runner/history.ts'
import { fingerprintOf, keepVerdicts, readVerdicts } from '../../src/runner/verdicts.ts'

const project = {
  'package-lock.json': '{}',
  web: { 'package.json': '{"name":"@pitboss/web"}' },
  'a.long.test.ts': "import { b } from './b.ts'\nnew URL('./data.json', import.meta.url)",
  'b.ts': 'export const b = 1',
  'c.ts': 'export const c = 1',
  'data.json': '1',
}

await t.test('a verdict rests on what the proof imports, the data it names, and the lock file', async (t) => {
  const root = t.testdir(project)
  const now = () => fingerprintOf(root, 'a.long.test.ts')
  const first = now()
  t.equal(now(), first)
  writeFileSync(join(root, 'c.ts'), 'export const c = 2')
  t.equal(now(), first, 'a file that it does not need')
  for (const [file, text] of Object.entries({
    'b.ts': 'export const b = 2',
    'data.json': '2',
    'package-lock.json': '{"a":1}',
  })) {
    const before = now()
    writeFileSync(join(root, file), text)
    t.not(now(), before, file)
  }
})

await t.test('verdicts are kept by name, and the last one counts', async (t) => {
  const root = t.testdir({})
  t.strictSame(readVerdicts(root), {})
  keepVerdicts(root, [['a', '1']])
  keepVerdicts(root, [
    ['a', '2'],
    ['b', '1'],
  ])
  t.strictSame(readVerdicts(root), { a: '2', b: '1' })
})

await t.test('the history tells which files have failed lately, and how often', async (t) => {
  const run = { at: '2026-11-28T10:00:00.000Z', slowness: 1, wallS: 9, cpuS: 9 }
  const files: Record<string, [number, number]> = { 'a.test.ts': [1, 1], 'b.test.ts': [1, 1] }
  const lines = describeHistory([
    { ...run, files, failed: ['b.test.ts'] },
    { ...run, files, failed: [] },
  ])
  t.match(lines.at(-1), /^1 of 2 runs, .* b\.test\.ts$/)
})
