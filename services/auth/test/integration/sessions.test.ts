import { randomUUID } from 'node:crypto'
import { login, logout, refreshLogin, resolvePrincipal } from '@pitboss/contracts/calls/auth'
import { opsCreateOperator, opsResetFactor } from '@pitboss/contracts/calls/auth-ops'
import * as endpoints from '@pitboss/contracts/endpoints/people'
import { operatorIdOf } from '@pitboss/contracts/primitives'
import { tokenClaimsSchema } from '@pitboss/contracts/token-claims'
import { Secret, TOTP } from 'otpauth'
import t from 'tap'
import { authOnDatabase } from '../fixtures/auth-deps.ts'

const none = { params: {}, query: {}, body: undefined }
const order = { by: 'test', reason: null, dryRun: false }
const password = 'a long enough password'

/** An owner, with a way to sign in and to ask whether a token still stands. */
async function owner(t: Parameters<typeof authOnDatabase>[0]) {
  const auth = await authOnDatabase(t)
  const email = `owner-${randomUUID()}@casino.example`
  const account = { name: 'Casino', plan: 'paid' as const, approved: true, currencies: null }
  const made = await auth.call(opsCreateOperator, { order, email, password, ...account })
  const operatorId = operatorIdOf(made.operator_id) ?? ''
  const signIn = async (client = { address: '192.0.2.7', userAgent: 'Browser' }) => {
    const signed = await auth.call(login, { email, password, totp: null, client })
    const payload = signed.body.access_token.split('.')[1] ?? ''
    const { sid, exp, iat } = tokenClaimsSchema.parse(
      JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')),
    )
    const userId = signed.body.user.user_id
    const caller = auth.callerAs(operatorId, userId, null, sid)
    return {
      refreshToken: signed.refreshToken,
      lifeS: exp - iat,
      userId,
      sessionId: sid ?? 'none',
      caller,
      stands: async () => {
        const query = { kind: 'user' as const, operatorId, userId, sessionId: sid ?? null }
        return (await auth.call(resolvePrincipal, query)).active
      },
    }
  }
  return { ...auth, email, operatorId, signIn }
}

t.test('signing out ends the token of that session alone', async (t) => {
  const { call, signIn, published, db } = await owner(t)
  const [first, second] = [await signIn(), await signIn()]
  t.ok(await first.stands())
  published.length = 0
  await call(logout, { refreshToken: first.refreshToken })
  t.strictSame(published, [`user.${first.userId}`], 'every gateway is told')
  t.notOk(await first.stands())
  t.ok(await second.stands())
  await t.rejects(call(refreshLogin, { refreshToken: first.refreshToken }), { code: 'INVALID_CREDENTIALS' })
  t.equal(await db.collection('users').countDocuments({ accessPending: true }), 0)
})

t.test('each try to sign in is a line of the log, without the e-mail address', async (t) => {
  const { call, signIn, email, logged } = await owner(t)
  const { userId } = await signIn()
  const client = { address: '198.51.100.9', userAgent: null }
  await t.rejects(call(login, { email, password: 'wrong', totp: null, client }), {
    code: 'INVALID_CREDENTIALS',
  })
  t.match(logged, [
    { msg: 'sign-in.done', user_id: userId, client_address: '192.0.2.7' },
    { msg: 'sign-in.refused', code: 'INVALID_CREDENTIALS', lacking: [], client_address: '198.51.100.9' },
  ])
  const hashes = logged.map((line) => JSON.stringify(line).match(/"email_hash":"([^"]+)"/)?.[1])
  t.equal(hashes[0], hashes[1], 'tries of one person can be told')
  t.notMatch(JSON.stringify(logged), email)
})

t.test('a refresh token that is used twice ends the tokens of its session', async (t) => {
  const { call, signIn } = await owner(t)
  const session = await signIn()
  await call(refreshLogin, { refreshToken: session.refreshToken })
  t.ok(await session.stands(), 'a renewal ends nothing')
  await t.rejects(call(refreshLogin, { refreshToken: session.refreshToken }), { code: 'INVALID_CREDENTIALS' })
  t.notOk(await session.stands())
})

t.test('a change of password or factor ends every token of the person', async (t) => {
  const { call, signIn, published, email, db } = await owner(t)
  const enrol = async (caller: Awaited<ReturnType<typeof signIn>>['caller']) => {
    const body = { password }
    const { secret } = (await call(endpoints.enrolTotp.call, { caller, ...none, body })).body
    return new TOTP({ secret: Secret.fromBase32(secret) })
  }
  const sessions = [await signIn(), await signIn()]
  const [{ caller } = await signIn()] = sessions
  const wrong = { password: 'not the password' }
  await t.rejects(call(endpoints.enrolTotp.call, { caller, ...none, body: wrong }), {
    code: 'INVALID_CREDENTIALS',
    details: [{ path: 'password' }],
  })
  const totp = await enrol(caller)
  t.strictSame(await Promise.all(sessions.map(({ stands }) => stands())), [true, true])
  published.length = 0
  await call(endpoints.confirmTotp.call, { caller, ...none, body: { code: totp.generate() } })
  t.ok(published.length > 0)
  t.strictSame(await Promise.all(sessions.map(({ stands }) => stands())), [false, false], 'a new factor')

  await db.collection('users').updateOne({ email }, { $set: { 'totp.lastStep': 0 } })
  const reset = { order, user: email, operator: null }
  t.equal((await call(opsResetFactor, reset)).totp_enabled, false)
  const third = await signIn()
  t.ok(await third.stands(), 'the person signs in without the factor')
  const body = { current_password: password, new_password: 'another long one to know' }
  await call(endpoints.changePassword.call, { caller: third.caller, ...none, body })
  t.notOk(await third.stands(), 'a new password')
  t.equal(await db.collection('audits').countDocuments({ act: 'user.reset-factor' }), 1)
})

t.test('a person lists sessions and ends one', async (t) => {
  const { call, signIn } = await owner(t)
  const first = await signIn()
  const second = await signIn({ address: '198.51.100.4', userAgent: 'Phone' })
  const list = async (query: { limit: number; cursor?: string }) =>
    (await call(endpoints.listOwnSessions.call, { caller: first.caller, ...none, query })).body
  const listed = await list({ limit: 50 })
  const page = await list({ limit: 1 })
  const rest = await list({ limit: 1, cursor: page.next_cursor ?? '' })
  t.strictSame([...page.data, ...rest.data], listed.data, 'page by page')
  t.strictSame([listed.next_cursor, rest.next_cursor], [null, null])
  t.match(listed.data, [
    { session_id: second.sessionId, client_address: '198.51.100.4', user_agent: 'Phone', current: false },
    { session_id: first.sessionId, client_address: '192.0.2.7', user_agent: 'Browser', current: true },
  ])
  const lifeMs = listed.data.map((one) => Date.parse(one.expires_at) - Date.parse(one.created_at))
  t.strictSame(lifeMs, Array(2).fill(30 * 24 * 60 * 60 * 1000))
  const params = { session_id: second.sessionId }
  await call(endpoints.endOwnSession.call, { caller: first.caller, ...none, params })
  t.notOk(await second.stands())
  t.ok(await first.stands())
  await t.rejects(call(endpoints.endOwnSession.call, { caller: first.caller, ...none, params }), {
    code: 'NOT_FOUND',
  })
})

t.test('a device is known by a cookie of its own, until its session ends', async (t) => {
  const { call, signIn, email } = await owner(t)
  const from = (device?: string) =>
    call(login, {
      ...{ email, password, totp: null, knownDeviceOnly: device !== undefined },
      ...(device === undefined ? {} : { device }),
    })
  const [first, second] = [await from(), await from()]
  const devices = [first.device ?? '', second.device ?? '']
  t.not(devices[0], devices[1], 'each device has one of its own')
  for (const device of devices) t.ok(await from(device), 'a known device')
  await t.rejects(from('a'.repeat(43)), { code: 'RATE_LIMITED' }, 'a stranger')

  await call(logout, { refreshToken: first.refreshToken })
  await t.rejects(from(devices[0]), { code: 'RATE_LIMITED' }, 'a device that has signed out')
  t.ok(await from(devices[1]))
  const { caller } = await signIn()
  const body = { current_password: password, new_password: 'another long one to know' }
  await call(endpoints.changePassword.call, { caller, ...none, body })
  await t.rejects(from(devices[1]), { code: 'RATE_LIMITED' }, 'a new password ends them all')
})

t.test('nobody signs in to a suspended account, and its people are told so', async (t) => {
  const { call, signIn, db, email } = await owner(t)
  await call(login, { email, password, totp: null })
  await db.collection('operators').updateMany({}, { $set: { suspended: true } })
  await t.rejects(call(login, { email, password, totp: null }), { code: 'OPERATOR_SUSPENDED' })
  const wrong = { email, password: 'another long one to know', totp: null }
  await t.rejects(call(login, wrong), { code: 'INVALID_CREDENTIALS' }, 'strangers are told nothing')
  await db.collection('operators').updateMany({}, { $set: { suspended: false } })
  t.ok(await (await signIn()).stands())
})

t.test('a session ends 30 days after its sign-in, and its last token with it', async (t) => {
  const { call, signIn, db, email } = await owner(t)
  const session = await signIn()
  const setEnd = (inMs: number) =>
    db
      .collection('users')
      .updateOne({ email }, { $set: { 'sessions.0.expiresAt': new Date(Date.now() + inMs) } })
  await setEnd(60_000)
  const renewed = await call(refreshLogin, { refreshToken: session.refreshToken })
  t.ok(renewed.body.expires_in <= 60, 'the token ends with its session')
  t.ok(renewed.refreshMaxAgeS <= 60)
  await setEnd(-1)
  t.notOk(await session.stands())
  await t.rejects(call(refreshLogin, { refreshToken: renewed.refreshToken }), { code: 'INVALID_CREDENTIALS' })
})

t.test('a refresh token of an earlier release goes on as a session', async (t) => {
  const { call, signIn, db, email } = await owner(t)
  const { refreshToken } = await signIn()
  await db.collection('users').updateOne({ email }, { $unset: { sessions: '' } })
  await db.collection('refresh_tokens').updateMany({}, { $unset: { sessionEndsAt: '' } })
  const renewed = await call(refreshLogin, { refreshToken })
  t.ok(await call(refreshLogin, { refreshToken: renewed.refreshToken }))
  t.match(await db.collection('users').findOne({ email }), { sessions: [{ clientAddress: null }] })
})
