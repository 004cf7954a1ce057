import { randomUUID } from 'node:crypto'
import { listPublicKeys, mintToken } from '@pitboss/contracts/calls/auth'
import { opsCreateOperator } from '@pitboss/contracts/calls/auth-ops'
import { createCredential } from '@pitboss/contracts/endpoints/auth'
import { operatorIdOf } from '@pitboss/contracts/primitives'
import { newId } from '@pitboss/runtime/new-id'
import t from 'tap'
import { authOnDatabase } from '../fixtures/auth-deps.ts'

type Row = { _id: string; secretHash: string }

async function twoKeys(t: Parameters<typeof authOnDatabase>[0]) {
  const auth = await authOnDatabase(t)
  const order = { by: 'test', reason: null, dryRun: false }
  const of = { name: 'Casino', password: 'a long enough password', plan: 'paid' as const, approved: true }
  const email = `${randomUUID()}@casino.example`
  const made = await auth.call(opsCreateOperator, { order, email, ...of, currencies: null })
  const caller = auth.callerAs(operatorIdOf(made.operator_id) ?? '', newId('usr'))
  const create = async () => {
    const body = { name: 'Key', environment: 'TEST' as const, scopes: [], ip_allowlist: [] }
    const answer = await auth.call(createCredential.call, { caller, params: {}, query: {}, body })
    return { api_key: answer.body.api_key, api_secret: answer.body.api_secret ?? '' }
  }
  const mint = (pair: { api_key: string; api_secret: string }) =>
    auth.call(mintToken, { ...pair, clientAddress: '192.0.2.1' })
  return {
    ...auth,
    mint,
    keys: [await create(), await create()] as const,
    rows: auth.db.collection<Row>('credentials'),
  }
}

t.test('a hash that is copied to another key opens nothing there', async (t) => {
  const { mint, keys, rows } = await twoKeys(t)
  const [own, other] = keys
  const copied = await rows.findOne({ _id: own.api_key })
  await rows.updateOne({ _id: other.api_key }, { $set: { secretHash: copied?.secretHash ?? '' } })
  await t.rejects(mint({ ...other, api_secret: own.api_secret }), { code: 'INVALID_CREDENTIALS' })
  t.ok(await mint(own))
})

t.test('a hash of an earlier release mints and is bound by it', async (t) => {
  const { mint, keys, rows, secretHash } = await twoKeys(t)
  const [own, other] = keys
  const unbound = secretHash.hash(own.api_secret)
  await rows.updateOne({ _id: own.api_key }, { $set: { secretHash: unbound } })
  t.ok(await mint(own))
  const bound = (await rows.findOne({ _id: own.api_key }))?.secretHash ?? unbound
  t.not(bound, unbound)
  t.ok(await mint(own))
  await rows.updateOne({ _id: other.api_key }, { $set: { secretHash: bound } })
  await t.rejects(mint({ ...other, api_secret: own.api_secret }), { code: 'INVALID_CREDENTIALS' })
})

t.test('a public key that was added to the database is not one of ours', async (t) => {
  const { call, db } = await twoKeys(t)
  const keys = async () => (await call(listPublicKeys, {})).keys.map(({ kid }) => kid)
  const genuine = await keys()
  const row = await db.collection<{ _id: string; publicJwk: object }>('signing_keys').findOne({})
  const forged = randomUUID()
  await db.collection<{ _id: string; publicJwk: object }>('signing_keys').insertOne({
    ...{ ...row, _id: forged, current: false },
    publicJwk: { ...row?.publicJwk, kid: forged },
  })
  t.strictSame(await keys(), genuine)
})
