import { acceptInvitation, login, refreshLogin } from '@pitboss/contracts/calls/auth'
import * as endpoints from '@pitboss/contracts/endpoints/people'
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
  const enrolled = (await bus.call(endpoints.enrolTotp.call, { caller, ...none })).body
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
  await bus.call(endpoints.removeTotp.call, { caller, ...none, body: { password } })
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
