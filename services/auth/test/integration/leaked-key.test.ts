import { listPublicKeys } from '@pitboss/contracts/calls/auth'
import { opsListAudit, opsListKeys, opsRetireKey, opsRotateKeys } from '@pitboss/contracts/calls/auth-ops'
import { ServiceError } from '@pitboss/errors/service-error'
import t from 'tap'
import { authOnDatabase } from '../fixtures/auth-deps.ts'

const order = { by: 'test', reason: 'leaked', dryRun: false }

async function authWithKeys(t: Parameters<typeof authOnDatabase>[0]) {
  const auth = await authOnDatabase(t)
  const { call } = auth
  const verifying = async () => (await call(listPublicKeys, {})).keys.map(({ kid }) => kid)
  const current = async () =>
    (await call(opsListKeys, {})).data.find(({ status }) => status === 'CURRENT')?.kid ?? ''
  return { ...auth, verifying, current }
}

t.test('a leaked key ends at once and another signs', async (t) => {
  const { call, current, verifying, published } = await authWithKeys(t)
  const leaked = await current()
  await call(opsRetireKey, { order: { ...order, dryRun: true }, kid: leaked })
  t.strictSame(await verifying(), [leaked], 'a dry run changes nothing')
  t.strictSame(published, [])

  const { data } = await call(opsRetireKey, { order, kid: leaked })
  t.equal(data.length, 1)
  t.not(data[0]?.kid, leaked)
  t.equal(await current(), data[0]?.kid)
  t.strictSame(await verifying(), [data[0]?.kid])
  t.strictSame(published, ['keys'])
  const audits = await call(opsListAudit, { cursor: null, limit: 10 })
  t.match(audits.data[0], { what: 'keys.retire', target: leaked, reason: 'leaked' })
})

t.test('a key that only verifies ends, the current one goes on', async (t) => {
  const { call, current, verifying } = await authWithKeys(t)
  const leaked = await current()
  await call(opsRotateKeys, { order })
  const signing = await current()
  t.strictSame(await verifying(), [signing, leaked])
  await call(opsRetireKey, { order, kid: leaked })
  t.strictSame(await verifying(), [signing])
  t.equal(await current(), signing)
})

t.test('an end that no gateway was told of is told by the next sweep, once', async (t) => {
  const { call, current, published, afterPut, publishAccessChange } = await authWithKeys(t)
  const leaked = await current()
  afterPut.fn = async () => {
    throw new Error('the process died')
  }
  await t.rejects(call(opsRetireKey, { order, kid: leaked }), ServiceError)
  await publishAccessChange.sweep()
  t.strictSame(published, ['keys', 'keys'])
  await publishAccessChange.sweep()
  t.strictSame(published, ['keys', 'keys'])
})

t.test('a key that nobody knows is NOT_FOUND', async (t) => {
  const { call, verifying } = await authWithKeys(t)
  const before = await verifying()
  for (const dryRun of [true, false])
    await t.rejects(call(opsRetireKey, { order: { ...order, dryRun }, kid: 'nobody' }), { code: 'NOT_FOUND' })
  t.strictSame(await verifying(), before)
})
