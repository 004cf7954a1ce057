import { tryOps } from '@pitboss/testing/run-ops'
import t from 'tap'

t.test('an order names a person in production, a question need not', async (t) => {
  Object.assign(process.env, { NODE_ENV: 'production', NATS_URL: 'nats://127.0.0.1:1' })
  delete process.env.PITBOSS_OPS_BY
  const create = ['operator', 'create', '--name', 'Casino', '--email', 'a@casino.example']
  t.match(await tryOps(null, ...create), { code: 2, stderr: /--by/ })
  const away = { code: 1, stderr: /NATS does not answer/ }
  t.match(await tryOps(null, ...create, '--by', 'ann'), away, 'with a name it goes on')
  t.match(await tryOps(null, ...create, '--dry-run'), away, 'a rehearsal is no order')
  t.match(await tryOps(null, 'operator', 'list'), away)
  process.env.PITBOSS_OPS_BY = 'ann'
  t.match(await tryOps(null, ...create), away)
})

t.test('a password is read from a file, so that no list of processes shows it', async (t) => {
  Object.assign(process.env, { NATS_URL: 'nats://127.0.0.1:1' })
  const create = ['operator', 'create', '--name', 'Casino', '--email', 'a@casino.example', '--password-file']
  const folder = t.testdir({ password: 'a long enough password\n' })
  t.match(await tryOps(null, ...create, `${folder}/none`), { code: 2, stderr: /cannot be read/ })
  t.match(await tryOps(null, ...create, `${folder}/password`), { code: 1, stderr: /NATS does not answer/ })
})
