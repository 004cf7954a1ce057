import { randomUUID } from 'node:crypto'
import { listPublicKeys, listRecordKeys, signDocument, signStopRecord } from '@pitboss/contracts/calls/auth'
import { opsRetireKey, opsRotateKeys } from '@pitboss/contracts/calls/auth-ops'
import { defineCall } from '@pitboss/contracts/call'
import { manifestType, stopRecordType, tokenTypes } from '@pitboss/contracts/token-claims'
import { openRecord } from '@pitboss/testing/open-record'
import { newId } from '@pitboss/runtime/new-id'
import t from 'tap'
import { z } from 'zod'
import { authOnDatabase } from '../fixtures/auth-deps.ts'

const { subject, reply, budgetMs } = signDocument
const token = { none: 'a test' }
const anything = defineCall(subject, { reply, budgetMs, token, request: z.looseObject({}) })

t.test('the call that signs documents signs no tokens', async (t) => {
  const { call } = await authOnDatabase(t)
  const payload = { iss: 'pitboss', aud: 'operator-api', sub: 'ck_live_x', op: randomUUID(), mode: 'LIVE' }
  for (const typ of Object.values(tokenTypes))
    await t.rejects(call(anything, { typ, payload }), { code: 'VALIDATION_ERROR' }, typ)
  const { jws } = await call(signDocument, { typ: manifestType, payload: { events: 1 } })
  const header: unknown = JSON.parse(Buffer.from(jws.split('.')[0] ?? '', 'base64url').toString())
  t.match(header, { alg: 'EdDSA', typ: manifestType })
})

const order = { by: 'test', reason: 'due', dryRun: false }
const textOf = (more: object = {}) =>
  JSON.stringify({
    ...{ stop_id: newId('stp'), operator_id: randomUUID(), environment: 'LIVE', player_id: 'é "alice"' },
    ...{ reason: 'self-exclusion', from: '2026-11-26T10:00:00.000Z', until: null, lifted_at: null },
    ...{ rounds_ended_at: '2026-11-26T10:00:10.000Z', last_bet: null, ...more },
  })

t.test('the record of a stop is signed as it is, byte for byte, and nothing else is', async (t) => {
  const { call } = await authOnDatabase(t)
  const text = textOf()
  const { jws } = await call(signStopRecord, { text })
  t.equal(Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString(), text)
  t.same(openRecord(jws, stopRecordType, await call(listRecordKeys, {})), JSON.parse(text))
  t.equal((await call(signStopRecord, { text })).jws, jws, 'twice the same')
  const refused = ['', 'null', '{}', textOf({ aud: 'operator-api' }), textOf({ rounds_ended_at: null })]
  for (const other of refused)
    await t.rejects(call(signStopRecord, { text: other }), { code: 'VALIDATION_ERROR' })
})

t.test('a record verifies for ever, unless its key was withdrawn', async (t) => {
  const { call, db } = await authOnDatabase(t)
  const old = (await call(signStopRecord, { text: textOf() })).jws
  await call(opsRotateKeys, { order })
  const fresh = (await call(signStopRecord, { text: textOf() })).jws
  await db.collection('signing_keys').updateOne({ current: false }, { $set: { retiresAt: new Date(0) } })
  t.equal((await call(listPublicKeys, {})).keys.length, 1, 'no token of the old key counts any more')
  const opens = async (jws: string) =>
    openRecord(jws, stopRecordType, await call(listRecordKeys, {})) !== null
  t.ok(await opens(old))
  t.ok(await opens(fresh))
  const { kid }: { kid: string } = JSON.parse(Buffer.from(old.split('.')[0] ?? '', 'base64url').toString())
  await call(opsRetireKey, { order, kid })
  t.notOk(await opens(old))
  t.ok(await opens(fresh))
})
