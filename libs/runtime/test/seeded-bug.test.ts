import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const module = new URL('../src/seeded-bug.ts', import.meta.url).href
const program = `
import { seededBug } from ${JSON.stringify(module)}
process.stdout.write(String([seededBug('storage.fence-lost'), seededBug('rounds.nonce-skipped')]))
`

function ask(environment: Record<string, string>) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    env: environment,
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

t.test('no bug is armed unless its name is given', async (t) => {
  t.strictSame(ask({}), { status: 0, stdout: 'false,false', stderr: '' })
  t.match(ask({ PITBOSS_SEEDED_BUG: '' }), { status: 0, stdout: 'false,false' })
})

t.test('an armed bug is the one that is named, and the process says so', async (t) => {
  const armed = ask({ PITBOSS_SEEDED_BUG: 'storage.fence-lost' })
  t.match(armed, { status: 0, stdout: 'true,false', stderr: /errs on purpose/ })
})

t.test('a name that is no bug, and any bug in production, end the process with 78', async (t) => {
  for (const environment of [
    { PITBOSS_SEEDED_BUG: 'yes' },
    { PITBOSS_SEEDED_BUG: 'storage.fence-lost', NODE_ENV: 'production' },
  ]) {
    t.match(ask(environment), { status: 78, stdout: '', stderr: /PITBOSS_SEEDED_BUG: / })
  }
})
