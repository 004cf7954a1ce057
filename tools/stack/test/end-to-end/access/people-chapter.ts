import { createHmac } from 'node:crypto'
import type { Test } from 'tap'
import { type AccessWorld, okay } from './access-world.ts'

const stepS = 30
const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** People, their second factor and every other secret that the product gives out. */
export async function peopleChapter(t: Test, world: AccessWorld): Promise<void> {
  const { send, signIn, demo } = world
  const owner = await signIn()
  const dashboard = '/v1/dashboard'

  await t.test('an invited person signs in, enrols a second factor and changes the password', async (t) => {
    const email = 'grace@casino.example'
    const invited = okay(
      201,
      await send('POST', `${dashboard}/users`, {
        token: owner,
        body: { email, name: 'Grace', role: 'VIEWER' },
      }),
    )
    const token = new URL(String(invited.invite_url)).hash.replace('#token=', '')
    const password = 'correct horse battery'
    const accept = (body: object) => send('POST', `${dashboard}/invitations/accept`, { body })
    t.equal((await accept({ token, password: 'short' })).code, 'VALIDATION_ERROR')
    t.equal((await accept({ token, password })).status, 200)
    t.equal((await accept({ token, password })).code, 'INVALID_CREDENTIALS')

    const grace = await signIn({ email, password })
    t.equal(
      (await send('POST', `${dashboard}/brands`, { token: grace, body: { name: 'Mine' } })).code,
      'FORBIDDEN',
      'a viewer reads',
    )
    const enrolled = okay(
      200,
      await send('POST', `${dashboard}/me/totp`, { token: grace, body: { password } }),
    )
    const secret = String(enrolled.secret)
    t.equal(
      (await send('POST', `${dashboard}/me/totp/confirm`, { token: grace, body: { code: '000000' } })).status,
      401,
    )
    const code = oneTimeCode(secret)
    const confirmed = okay(
      200,
      await send('POST', `${dashboard}/me/totp/confirm`, { token: grace, body: { code } }),
    )
    const [recovery] = Array.isArray(confirmed.recovery_codes) ? confirmed.recovery_codes : []
    const login = (body: object) => send('POST', `${dashboard}/login`, { body: { email, password, ...body } })
    t.match(await login({}), { code: 'INVALID_CREDENTIALS', body: { details: [{ path: 'totp' }] } })
    const again = okay(200, await login({ totp: recovery }))
    t.equal((await login({ totp: recovery })).code, 'INVALID_CREDENTIALS', 'a recovery code works once')
    const changed = { current_password: password, new_password: 'another long password' }
    t.equal(
      (await send('POST', `${dashboard}/me/password`, { token: String(again.access_token), body: changed }))
        .status,
      200,
    )
    t.equal((await login({})).code, 'INVALID_CREDENTIALS', 'the old password is over')
    await send('DELETE', `${dashboard}/users/${String(invited.user_id)}`, { token: owner })
  })

  await t.test('a refresh cookie works once; its second use ends the sign-in', async (t) => {
    const cookieOf = (cookies: string[]) => cookies[0]?.split(';')[0] ?? ''
    const signed = await send('POST', `${dashboard}/login`, { body: demo.dashboard })
    const first = cookieOf(signed.cookies)
    t.match(signed.cookies[0], /HttpOnly/i)
    t.match(signed.cookies[0], /SameSite=Strict/i)
    const refresh = (cookie: string) => send('POST', `${dashboard}/refresh`, { headers: { cookie } })
    const again = await refresh(first)
    t.equal(again.status, 200, again.text)
    t.equal((await refresh(first)).code, 'INVALID_CREDENTIALS')
    t.equal((await refresh(cookieOf(again.cookies))).code, 'INVALID_CREDENTIALS')
    await send('POST', `${dashboard}/logout`, { headers: { cookie: first } })
  })

  await t.test('secrets of endpoints and wallets are shown once', async (t) => {
    const webhooks = `${dashboard}/webhooks`
    const body = { url: 'http://127.0.0.1:9/hooks', environment: 'TEST', events: ['round.completed'] }
    const made = okay(201, await send('POST', webhooks, { token: owner, body }))
    const one = `${webhooks}/${String(made.webhook_id)}`
    okay(200, await send('POST', `${one}/rotate-secret`, { token: owner, body: { overlap_s: 60 } }))
    t.notMatch(okay(200, await send('GET', one, { token: owner })), { secret: String })
    okay(200, await send('GET', `${webhooks}?environment=TEST`, { token: owner }))
    okay(204, await send('DELETE', one, { token: owner }))

    const boss = await signIn(world.second.dashboard)
    const wallet = `${dashboard}/wallets/TEST`
    const settings = { url: demo.wallet.url, timeout_ms: 1000, settle_losses: 'none' }
    const put = await send('PUT', wallet, { token: boss, body: settings })
    t.type(put.body.secret, 'string')
    t.type(okay(200, await send('POST', `${wallet}/rotate-secret`, { token: boss })).secret, 'string')
    t.equal(okay(200, await send('GET', wallet, { token: boss })).secret, undefined)
    await send('POST', `${wallet}/check`, { token: boss })
  })

  await t.test('a secret in the wrong place comes back to nobody', async (t) => {
    const { test } = demo
    const rawBody = `{"api_key":"${test.api_key}","api_secret":"${test.api_secret}"`
    const wrong = [
      await send('POST', '/v1/auth/token', { rawBody }),
      await send('POST', '/v1/auth/token', { rawBody: `${rawBody},"api_secret":"${test.api_secret}"}` }),
      await send('POST', '/v1/auth/token', { body: { api_key: test.api_secret, api_secret: test.api_key } }),
      await send('POST', '/v1/auth/token', { body: { ...test, api_secret: [test.api_secret] } }),
      await send('GET', `/v1/games?limit=${owner}`, { token: owner }),
      await send('GET', '/v1/games', { headers: { authorization: `Basic ${test.api_secret}` } }),
      await send('GET', '/v1/games', { token: `${owner}x` }),
      await send('POST', `${dashboard}/login`, { rawBody: `${demo.dashboard.password}` }),
      await send('POST', `${dashboard}/login`, {
        body: { ...demo.dashboard, totp: demo.dashboard.password },
      }),
      await send('POST', `${dashboard}/refresh`, {
        headers: { cookie: `pitboss_refresh=${test.api_secret}` },
      }),
    ]
    for (const { status, text } of wrong) t.ok(status >= 400 || status === 200, text)
  })
}

/** RFC 6238 with its defaults, for the present step. */
function oneTimeCode(secret: string): string {
  const bits = Array.from(secret, (letter) => base32.indexOf(letter).toString(2).padStart(5, '0')).join('')
  const key = Buffer.from(bits.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? [])
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 1000 / stepS)))
  const mac = createHmac('sha1', key).update(counter).digest()
  const offset = (mac.at(-1) ?? 0) & 0xf
  return String((mac.readUInt32BE(offset) & 0x7fff_ffff) % 1_000_000).padStart(6, '0')
}
