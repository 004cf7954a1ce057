import { randomUUID } from 'node:crypto'
import { signDocument } from '@pitboss/contracts/calls/auth'
import { defineCall } from '@pitboss/contracts/call'
import { manifestType, tokenTypes } from '@pitboss/contracts/token-claims'
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
