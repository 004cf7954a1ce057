import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { claimFile } from '../../src/processes/claim-file.ts'
import { processStartedAt } from '../../src/processes/process-record.ts'

await t.test('one holds it at a time; released, it is free and leaves nothing', async (t) => {
  const folder = t.testdir({})
  const first = claimFile(join(folder, 'lock'))
  t.strictSame(claimFile(join(folder, 'lock')), { heldBy: process.pid })
  if ('claim' in first) first.claim.release()
  t.strictSame(readdirSync(folder), [])
  t.ok('claim' in claimFile(join(folder, 'lock')))
})

await t.test(
  'a claim of a dead process is taken over, also when its pid went to somebody else',
  async (t) => {
    const folder = t.testdir({ dead: '4194999 1\n', reused: `${process.ppid} 1\n`, broken: 'x' })
    for (const name of ['dead', 'reused', 'broken']) t.ok('claim' in claimFile(join(folder, name)), name)
  },
)

await t.test('of many processes that race for a stale claim exactly one gets it', async (t) => {
  const folder = t.testdir({ lock: '4194999 1\n' })
  const module = new URL('../../src/processes/claim-file.ts', import.meta.url).href
  const racer = join(folder, 'racer.mjs')
  writeFileSync(
    racer,
    `import { claimFile } from '${module}'
     process.stdin.once('data', () => {
       const result = claimFile('${join(folder, 'lock')}')
       process.stdout.write('claim' in result ? 'got' : 'no')
     }).on('end', () => process.exit())
     process.stdout.write('r')`,
  )
  const racers = Array.from({ length: 6 }, () =>
    spawn(process.execPath, [racer], { stdio: ['pipe', 'pipe', 'inherit'] }),
  )
  await Promise.all(racers.map((child) => once(child.stdout, 'data')))
  for (const child of racers) child.stdin.write('go\n')
  const answers = await Promise.all(
    racers.map(async (child) => String((await once(child.stdout, 'data'))[0])),
  )
  t.strictSame(answers.sort(), ['got', 'no', 'no', 'no', 'no', 'no'])
  for (const child of racers) child.stdin.end()
})

await t.test('a process is known by its pid and its start', async (t) => {
  t.equal(processStartedAt(process.pid), processStartedAt(process.pid))
  t.equal(processStartedAt(4_194_999), null)
})
