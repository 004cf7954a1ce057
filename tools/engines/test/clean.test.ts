import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { runProgram } from '../src/fetch/run-program.ts'

const cli = fileURLToPath(new URL('../src/cli.ts', import.meta.url))

t.test('clean removes every program that was fetched, and nothing of others', async (t) => {
  const fetched = {
    'amtool-forky-x64-1': {},
    'apt-trixie': {},
    'apt.lock': '',
    'cosign-forky-x64-1': {},
    'documentdb-postgresql18-forky-x64-1': {},
    'kustomize-forky-x64-1': {},
    'nats-server-forky-x64-1': {},
    'prometheus-forky-x64-1': {},
    'promtool-forky-x64-1': {},
    'umoci-forky-x64-1': {},
  }
  const cacheDir = t.testdir({ ...fetched, aptitude: {}, 'somebody-elses': {} })
  await runProgram(process.execPath, [cli, 'clean'], {
    env: { ...process.env, PITBOSS_CACHE_DIR: cacheDir },
  })
  t.strictSame(readdirSync(cacheDir).toSorted(), ['aptitude', 'somebody-elses'])
})
