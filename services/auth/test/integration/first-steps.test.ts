import { randomUUID } from 'node:crypto'
import { hash } from '@node-rs/argon2'
import { login, resolvePrincipal } from '@pitboss/contracts/calls/auth'
import { opsCreateOperator } from '@pitboss/contracts/calls/auth-ops'
import { dashboardPatchBusiness, getBusiness } from '@pitboss/contracts/endpoints/auth'
import * as endpoints from '@pitboss/contracts/endpoints/people'
import { operatorIdOf } from '@pitboss/contracts/primitives'
import { tokenClaimsSchema } from '@pitboss/contracts/token-claims'
import { Secret, TOTP } from 'otpauth'
import t from 'tap'
import { authOnDatabase } from '../fixtures/auth-deps.ts'

const none = { params: {}, query: {}, body: undefined }
const order = { by: 'test', reason: null, dryRun: false }
const password = 'a long enough password'

async function account(t: Parameters<typeof authOnDatabase>[0], chosen: string | null = password) {
  const auth = await authOnDatabase(t)
  const email = `owner-${randomUUID()}@casino.example`
  const of = { name: 'Casino', plan: 'paid' as const, approved: true, currencies: null }
  const made = await auth.call(opsCreateOperator, { order, email, password: chosen, ...of })
  const operatorId = operatorIdOf(made.operator_id) ?? ''
  const signIn = async (totp: string | null = null, as = { email, password: made.dashboard.password }) => {
    const { body } = await auth.call(login, { ...as, totp })
    const payload = Buffer.from(body.access_token.split('.')[1] ?? '', 'base64url').toString('utf8')
    const { sid = '', sub } = tokenClaimsSchema.parse(JSON.parse(payload))
    const lacks = async () => {
      const query = { kind: 'user' as const, operatorId, userId: sub, sessionId: sid }
      return (await auth.call(resolvePrincipal, query)).user?.lacks
    }
    return { user: body.user, caller: auth.callerAs(operatorId, sub, null, sid), lacks }
  }
  return { ...auth, email, operatorId, made, signIn }
}

t.test('a password that was handed out has to be changed, a chosen one has not', async (t) => {
  const { call, signIn, email, made } = await account(t, null)
  const first = await signIn()
  t.equal(first.user.password_change_required, true)
  t.equal(await first.lacks(), 'password')
  const current_password = made.dashboard.password
  const change = (new_password: string) =>
    call(endpoints.changePassword.call, {
      caller: first.caller,
      ...none,
      body: { current_password, new_password },
    })
  for (const refused of ['password1234', current_password])
    await t.rejects(
      change(refused),
      { code: 'VALIDATION_ERROR', details: [{ path: 'new_password' }] },
      refused,
    )
  t.equal((await change(password)).body.password_change_required, false)
  const second = await signIn(null, { email, password })
  t.equal(await second.lacks(), null)

  const add = (body: object) =>
    call(endpoints.inviteUser.call, {
      ...{ caller: second.caller, ...none },
      body: { email: `${randomUUID()}@casino.example`, name: 'Ada', role: 'VIEWER', password, ...body },
    })
  t.equal((await add({})).body.password_change_required, false)
  t.equal((await add({ change_password: true })).body.password_change_required, true)
  await t.rejects(add({ password: 'qwerty123456' }), {
    code: 'VALIDATION_ERROR',
    details: [{ path: 'password' }],
  })
})

t.test('an account that demands a second factor holds back who has none', async (t) => {
  const { call, signIn, published, operatorId } = await account(t)
  const { caller, lacks } = await signIn()
  t.equal((await call(getBusiness.call, { caller, ...none })).body.require_totp, false)
  published.length = 0
  const patched = await call(dashboardPatchBusiness.call, { caller, ...none, body: { require_totp: true } })
  t.equal(patched.body.require_totp, true)
  t.strictSame(published, [`operator.${operatorId}`])
  t.equal(await lacks(), 'totp')
  const { secret } = (await call(endpoints.enrolTotp.call, { caller, ...none, body: { password } })).body
  t.equal(await lacks(), 'totp', 'an enrolment counts once it is confirmed')
  const totp = new TOTP({ secret: Secret.fromBase32(secret) })
  const codes = (await call(endpoints.confirmTotp.call, { caller, ...none, body: { code: totp.generate() } }))
    .body
  t.equal(await (await signIn(codes.recovery_codes[0])).lacks(), null)
})

t.test('wrong codes make a person wait, however many come at once', async (t) => {
  const { call, signIn, db, email } = await account(t)
  const { caller } = await signIn()
  const { secret } = (await call(endpoints.enrolTotp.call, { caller, ...none, body: { password } })).body
  const totp = new TOTP({ secret: Secret.fromBase32(secret) })
  const { recovery_codes } = (
    await call(endpoints.confirmTotp.call, { caller, ...none, body: { code: totp.generate() } })
  ).body
  const { device = '' } = await call(login, { email, password, totp: recovery_codes[1] ?? '' })
  const tries = await Promise.allSettled(Array.from({ length: 12 }, () => signIn('000000')))
  const codes = tries.map((one) => (one.status === 'rejected' ? one.reason.code : 'in'))
  t.ok(codes.filter((code) => code === 'INVALID_CREDENTIALS').length <= 3, codes.join())
  await db.collection('users').updateOne({ email }, { $set: { 'codeTries.count': 3 } })
  await db
    .collection('users')
    .updateOne({ email }, { $set: { 'codeTries.nextAt': new Date(Date.now() + 60_000) } })
  await t.rejects(signIn(recovery_codes[0]), { code: 'RATE_LIMITED' }, 'a right code waits, too')
  const known = { email, password, totp: recovery_codes[2] ?? '', device }
  t.ok(await call(login, known), 'but not one from a device with a session')
  await db.collection('users').updateOne({ email }, { $set: { 'codeTries.nextAt': new Date(0) } })
  await t.rejects(signIn('000000'), { code: 'INVALID_CREDENTIALS' })
  await t.rejects(signIn('000000'), { code: 'RATE_LIMITED' }, 'the next wait has begun')
  await db.collection('users').updateOne({ email }, { $set: { 'codeTries.nextAt': new Date(0) } })
  t.ok(await signIn(recovery_codes[0]))
  t.match(await db.collection('users').findOne({ email }), { codeTries: null })
})

t.test('wrong current passwords make a person wait, are recorded, and hold up no sign-in', async (t) => {
  const { call, signIn, db, email, stores, operatorId } = await account(t)
  const { caller } = await signIn()
  const change = (current_password: string) =>
    call(endpoints.changePassword.call, {
      ...{ caller, ...none },
      body: { current_password, new_password: 'another long one to know' },
    })
  const tries = await Promise.allSettled(Array.from({ length: 12 }, () => change('a wrong password')))
  const codes = tries.map((one) => (one.status === 'rejected' ? one.reason.code : 'in'))
  const wrong = codes.filter((code) => code === 'INVALID_CREDENTIALS').length
  t.ok(wrong >= 1 && wrong <= 3, codes.join())
  const { rows } = await stores.audits.page({ operatorId }, { act: 'password.refused' }, { limit: 50 })
  t.equal(rows.length, wrong)
  t.match(rows[0]?.entry, { actor: { name: caller.actor.kind === 'user' ? caller.actor.email : '' } })
  t.match(rows[0]?.entry.after, { code: 'INVALID_CREDENTIALS', lacking: ['current_password'] })

  const nextAt = new Date(Date.now() + 60_000)
  await db.collection('users').updateOne({ email }, { $set: { passwordTries: { count: 3, nextAt } } })
  await t.rejects(change(password), { code: 'RATE_LIMITED' }, 'the right one waits, too')
  t.ok(await signIn(), 'a sign-in does not')
  await db.collection('users').updateOne({ email }, { $set: { 'passwordTries.nextAt': new Date(0) } })
  t.ok(await change(password))
  t.match(await db.collection('users').findOne({ email }), { passwordTries: null })
})

t.test('a hash of an earlier cost is replaced at the next sign-in, which goes on', async (t) => {
  const { signIn, db, email } = await account(t)
  const users = db.collection('users')
  const weak = await hash(password, { memoryCost: 8192, timeCost: 1, parallelism: 1 })
  await users.updateOne({ email }, { $set: { passwordHash: weak } })
  const { lacks } = await signIn()
  t.equal(await lacks(), null, 'the session stands')
  t.match(await users.findOne({ email }), { passwordHash: /\$m=19456,t=2,p=1\$/ })
  t.ok(await signIn())
})
