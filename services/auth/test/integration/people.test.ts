import { acceptInvitation, login, refreshLogin } from '@pitboss/contracts/calls/auth'
import { opsCreateOperator } from '@pitboss/contracts/calls/auth-ops'
import * as endpoints from '@pitboss/contracts/endpoints/people'
import { operatorIdOf } from '@pitboss/contracts/primitives'
import { ServiceError } from '@pitboss/errors/service-error'
import { Secret, TOTP } from 'otpauth'
import t from 'tap'
import { startTestAuth } from '../fixtures/start-test-auth.ts'

const none = { params: {}, query: {}, body: undefined }

t.test('people sign in and stay signed in, and each refresh token and code works once', async (t) => {
  const { bus, email, password, callerAs } = await startTestAuth(t)
  const signIn = (extra: Partial<{ email: string; password: string; totp: string }> = {}) =>
    bus.call(login, { email, password, totp: null, ...extra })

  const first = await signIn({ email: email.toUpperCase() })
  t.match(first.body, { token_type: 'Bearer', user: { email, role: 'OWNER', status: 'ACTIVE' } })
  await t.rejects(signIn({ password: 'wrong password!' }), { code: 'INVALID_CREDENTIALS' })
  await t.rejects(signIn({ email: 'nobody@casino.example' }), { code: 'INVALID_CREDENTIALS' })

  const second = await bus.call(refreshLogin, { refreshToken: first.refreshToken })
  await t.rejects(
    bus.call(refreshLogin, { refreshToken: first.refreshToken }),
    { code: 'INVALID_CREDENTIALS' },
    'a used refresh token is refused',
  )
  await t.rejects(
    bus.call(refreshLogin, { refreshToken: second.refreshToken }),
    { code: 'INVALID_CREDENTIALS' },
    'and ends its family',
  )

  const caller = await callerAs(first.body.user.user_id)
  const enrolled = (await bus.call(endpoints.enrolTotp.call, { caller, ...none, body: { password } })).body
  const totp = new TOTP({ secret: Secret.fromBase32(enrolled.secret) })
  await t.rejects(bus.call(endpoints.confirmTotp.call, { caller, ...none, body: { code: 'nonsense' } }), {
    code: 'INVALID_CREDENTIALS',
  })
  const { recovery_codes } = (
    await bus.call(endpoints.confirmTotp.call, { caller, ...none, body: { code: totp.generate() } })
  ).body
  t.equal(recovery_codes.length, 10)
  await t.rejects(signIn(), { code: 'INVALID_CREDENTIALS', details: [{ path: 'totp' }] })
  await t.rejects(signIn({ totp: totp.generate() }), { code: 'INVALID_CREDENTIALS' }, 'a code works once')
  const [recovery = ''] = recovery_codes
  t.ok(await signIn({ totp: recovery }))
  await t.rejects(signIn({ totp: recovery }), { code: 'INVALID_CREDENTIALS' }, 'a recovery code works once')
  const remove = (body: { password: string; code?: string }) =>
    bus.call(endpoints.removeTotp.call, { caller, ...none, body })
  await t.rejects(
    remove({ password }),
    { code: 'INVALID_CREDENTIALS', details: [{ path: 'code' }] },
    'the password takes no factor off by itself',
  )
  await t.rejects(remove({ password, code: recovery }), {
    code: 'INVALID_CREDENTIALS',
    details: [{ path: 'code' }],
  })
  await t.rejects(signIn(), { code: 'INVALID_CREDENTIALS' }, 'the factor is still there')
  const [, unused = ''] = recovery_codes
  await remove({ password, code: unused })
  t.ok(await signIn())
})

t.test('the last owner is neither removed nor demoted, even by two requests at once', async (t) => {
  const { bus, email, password, callerAs } = await startTestAuth(t)
  const { body } = await bus.call(login, { email, password, totp: null })
  const caller = await callerAs(body.user.user_id)
  const owner = { user_id: body.user.user_id }
  await t.rejects(
    bus.call(endpoints.patchUser.call, { caller, ...none, params: owner, body: { role: 'VIEWER' } }),
    { code: 'CONFLICT' },
  )
  await t.rejects(bus.call(endpoints.removeUser.call, { caller, ...none, params: owner }), {
    code: 'CONFLICT',
  })

  const invited = (
    await bus.call(endpoints.inviteUser.call, {
      caller,
      ...none,
      body: { email: `second-${email}`, name: 'Second', role: 'OWNER' },
    })
  ).body
  t.equal(invited.status, 'INVITED')
  const token = new URL(invited.invite_url ?? '').hash.replace('#token=', '')
  await t.rejects(bus.call(acceptInvitation, { token, password: 'short' }), {
    code: 'VALIDATION_ERROR',
    details: [{ path: 'password' }],
  })
  t.equal((await bus.call(acceptInvitation, { token, password: 'long enough for this' })).user.role, 'OWNER')
  await t.rejects(
    bus.call(acceptInvitation, { token, password: 'long enough for this' }),
    { code: 'INVALID_CREDENTIALS' },
    'an invitation works once',
  )

  const second = { user_id: invited.user_id }
  const demote = (params: { user_id: string }) =>
    bus.call(endpoints.patchUser.call, { caller, ...none, params, body: { role: 'VIEWER' } }).then(
      () => 'done',
      () => 'refused',
    )
  t.strictSame((await Promise.all([demote(owner), demote(second)])).toSorted(), ['done', 'refused'])
})

t.test('one e-mail address stands in several accounts, once in each', async (t) => {
  const first = await startTestAuth(t)
  const { bus, email, password } = first
  const of = { plan: 'free' as const, approved: false, currencies: null }
  const made = await bus.call(opsCreateOperator, {
    order: first.order,
    name: 'Second',
    email,
    password,
    ...of,
  })
  const accounts = [first.handle, made.operator_id]
  const signIn = (extra: object = {}) => bus.call(login, { email, password, totp: null, ...extra })

  const refused = await signIn().catch((error: unknown) => error)
  t.match(refused, { code: 'VALIDATION_ERROR', details: [{ path: 'operator_id' }, { path: 'operator_id' }] })
  for (const handle of accounts) {
    t.match(JSON.stringify(refused instanceof ServiceError ? refused.details : null), new RegExp(handle))
    t.ok(await signIn({ operator_id: handle }))
  }
  await t.rejects(signIn({ operator_id: `op_${'0'.repeat(32)}` }), { code: 'INVALID_CREDENTIALS' })
  await t.rejects(signIn({ operator_id: made.operator_id, password: 'wrong' }), {
    code: 'INVALID_CREDENTIALS',
  })

  const { body } = await signIn({ operator_id: first.handle })
  const caller = await first.callerAs(body.user.user_id)
  const change = { current_password: password, new_password: 'only of the first account' }
  await bus.call(endpoints.changePassword.call, { caller, ...none, body: change })
  t.equal((await signIn()).body.user.name, 'Second', 'a password that fits in one account alone names it')

  const again = { email, name: 'Again', role: 'VIEWER' as const }
  const second = await first.callerAs((await signIn()).body.user.user_id)
  await t.rejects(bus.call(endpoints.inviteUser.call, { caller, ...none, body: again }), { code: 'CONFLICT' })
  const elsewhere = { ...again, email: `third-${email}` }
  const operatorId = operatorIdOf(made.operator_id) ?? ''
  const [scope, account] = [
    { ...second.scope, operatorId },
    { ...second.account, operator_id: operatorId },
  ]
  for (const inviter of [caller, { ...second, scope, account }])
    t.match((await bus.call(endpoints.inviteUser.call, { caller: inviter, ...none, body: elsewhere })).body, {
      status: 'INVITED',
    })
})
