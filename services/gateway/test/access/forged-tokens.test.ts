import { createHmac } from 'node:crypto'
import { waitFor } from '@pitboss/testing/wait-for'
import { CompactSign, generateKeyPair } from 'jose'
import t from 'tap'
import { ask } from '../fixtures/ask.ts'
import { claimsFor, newTestKey, signToken } from '@pitboss/testing/sign-token'
import { startWorld } from '../fixtures/start-world.ts'
import { ids } from '../fixtures/test-ids.ts'

const world = await startWorld(t)
const { key } = world
const url = `${world.url}/v1/sessions`
const claims = claimsFor('operator-api', ids.testKey, ids.operator)
const good = await signToken(key, claims)
const [head = '', payload = '', signature = ''] = good.split('.')
const stranger = { ...(await newTestKey('k1')), kid: 'k1' }
const until = (condition: () => Promise<boolean>) => waitFor(condition, { timeoutMs: 2000 })
const b64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const header = { alg: 'EdDSA', kid: 'k1', typ: 'pitboss-operator+jwt' }
const now = Math.floor(Date.now() / 1000)
const expired = { iat: now - 100, exp: now - 1 }

async function rsaToken(): Promise<string> {
  const { privateKey } = await generateKeyPair('RS256')
  const bytes = new TextEncoder().encode(JSON.stringify(claims))
  return new CompactSign(bytes).setProtectedHeader({ ...header, alg: 'RS256' }).sign(privateKey)
}

function hmacToken(): string {
  const signed = `${b64({ ...header, alg: 'HS256' })}.${payload}`
  const secret = String(key.jwk.x)
  return `${signed}.${createHmac('sha256', Buffer.from(secret, 'base64url')).update(signed).digest('base64url')}`
}

/** Each differs from a good token in one thing. */
const forged: Record<string, string> = {
  'alg none': `${b64({ ...header, alg: 'none' })}.${payload}.`,
  'alg none with the old signature': `${b64({ ...header, alg: 'none' })}.${payload}.${signature}`,
  'alg NONE in capitals': `${b64({ ...header, alg: 'NONE' })}.${payload}.${signature}`,
  'HS256 with the public key as secret': hmacToken(),
  'RS256 with a key of its own': await rsaToken(),
  'another key under our kid': await signToken(stranger, claims),
  'an unknown kid': await signToken(await newTestKey('k9'), claims),
  'a kid that is a path': await signToken({ ...stranger, kid: '../../etc/passwd' }, claims),
  'a key of its own in the header': await signToken(stranger, claims, { jwk: stranger.jwk }),
  'a key address in the header': await signToken(key, claims, { jku: 'https://evil.example/jwks' }),
  'a critical extension': await signToken(key, claims, { crit: ['b64'], b64: true }),
  'no kid': await signToken(key, claims, { kid: undefined }),
  'no typ': await signToken(key, claims, { typ: undefined }),
  'a plain JWT typ': await signToken(key, claims, { typ: 'JWT' }),
  'the typ of another audience': await signToken(key, claims, { typ: 'pitboss-dashboard+jwt' }),
  'a changed payload': `${head}.${b64({ ...claims, op: ids.otherOperator })}.${signature}`,
  'a changed scope': `${head}.${b64({ ...claims, scp: ['games:read'] })}.${signature}`,
  'a changed first character of the signature': `${head}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
  'another spelling of the last character': `${head}.${payload}.${signature.slice(0, -1)}${otherSpelling(signature.at(-1) ?? '')}`,
  'a padded signature': `${good}==`,
  'a cut signature': good.slice(0, -4),
  'no signature': `${head}.${payload}.`,
  'two parts': `${head}.${payload}`,
  'four parts': `${good}.${signature}`,
  'another issuer': await signToken(key, { ...claims, iss: 'someone' }),
  'no issuer': await signToken(key, { ...claims, iss: undefined }),
  'an unknown audience': await signToken(key, { ...claims, aud: 'admin' }, { typ: header.typ }),
  'two audiences': await signToken(
    key,
    { ...claims, aud: ['operator-api', 'dashboard'] },
    { typ: header.typ },
  ),
  'no expiry': await signToken(key, { ...claims, exp: undefined }),
  'an expiry that is text': await signToken(key, { ...claims, exp: '9999999999' }),
  'issued tomorrow': await signToken(key, { ...claims, iat: now + 86_400, exp: now + 90_000 }),
  'an extra claim': await signToken(key, { ...claims, admin: true }),
  'another operator for this key': await signToken(key, { ...claims, op: ids.otherOperator }),
  'a key that does not exist': await signToken(key, { ...claims, sub: 'ck_test_000000000000000000000000' }),
  'the mode of the other environment': await signToken(key, { ...claims, mode: 'LIVE' }),
  'an unsigned array': await signToken(key, []),
  'expired with a bad signature': `${head}.${b64({ ...claims, ...expired })}.${signature}`,
  'expired under another key': await signToken(stranger, { ...claims, ...expired }),
  'of 8 KiB': `${head}.${'A'.repeat(8192)}.${signature}`,
  rubbish: 'rubbish',
}

function otherSpelling(last: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return alphabet.charAt(alphabet.indexOf(last) ^ 1)
}

await t.test('a good token passes', async (t) => {
  t.equal((await ask(url, { token: good })).status, 200)
  t.equal((await ask(url, { token: good })).status, 200, 'from memory too')
})

await t.test('a forged token is INVALID_CREDENTIALS', async (t) => {
  for (const [name, token] of Object.entries(forged)) {
    const answer = await ask(url, { token })
    t.match(answer, { status: 401, code: 'INVALID_CREDENTIALS' }, name)
    t.notMatch(answer.text, token.slice(0, 40), 'and is not repeated')
  }
})

await t.test('a token that is only too old is TOKEN_EXPIRED', async (t) => {
  const token = await signToken(key, { ...claims, ...expired })
  t.match(await ask(url, { token }), { status: 401, code: 'TOKEN_EXPIRED' })
})

await t.test('a header that is no bearer token is UNAUTHORIZED', async (t) => {
  const headers = [
    '',
    'Bearer',
    'Bearer ',
    'Basic Zm9vOmJhcg==',
    good,
    `Token ${good}`,
    'Bearer a b',
    `Bearer ${good}, x`,
  ]
  for (const authorization of headers) {
    t.match(
      await ask(url, { headers: { authorization } }),
      { status: 401, code: 'UNAUTHORIZED' },
      authorization.slice(0, 20),
    )
  }
  t.equal((await ask(url)).headers.get('www-authenticate'), 'Bearer')
})

await t.test('the first check that fails answers', async (t) => {
  const { directory, bucket } = world
  const body = { nonsense: true }
  const post = async (token: string | null, path = '/v1/sessions') =>
    (await ask(world.url + path, { method: 'POST', token, body })).code
  const player = await world.playerToken()
  t.equal(await post(null), 'UNAUTHORIZED')
  t.equal(await post(null, '/v1/nothing'), 'NOT_FOUND')
  t.equal(
    await post(await signToken(key, { ...claims, aud: 'game-launcher', ...expired })),
    'TOKEN_EXPIRED',
    'before audience',
  )

  directory.account.suspended = true
  const credential = directory.credentials.get(ids.testKey)
  if (credential === undefined) throw new Error('no credential')
  credential.ip_allowlist = ['10.0.0.1']
  credential.scopes = ['games:read']
  await bucket.put(`operator.${ids.operator}`, {})
  await bucket.put(`credential.${ids.testKey}`, {})
  await until(async () => (await post(good)) === 'OPERATOR_SUSPENDED')
  t.equal(await post(player), 'INSUFFICIENT_SCOPE', 'audience before suspension')

  directory.account.suspended = false
  await bucket.put(`operator.${ids.operator}`, {})
  await until(async () => (await post(good)) === 'IP_NOT_ALLOWED')
  credential.ip_allowlist = ['127.0.0.0/8']
  await bucket.put(`credential.${ids.testKey}`, {})
  await until(async () => (await post(good)) === 'INSUFFICIENT_SCOPE')
  credential.scopes = ['sessions:write']
  await bucket.put(`credential.${ids.testKey}`, {})
  await until(async () => (await post(good)) === 'VALIDATION_ERROR')
  credential.active = false
  await bucket.put(`credential.${ids.testKey}`, {})
  await until(async () => (await post(good)) === 'INVALID_CREDENTIALS')
})
