import { waitFor } from '@pitboss/testing/wait-for'
import type { Test } from 'tap'
import type { AccessWorld } from './access-world.ts'

const mintsAtOnce = 50
const looks = 40

/** A key's life, with a gateway taken at random for each request. */
export async function keysChapter(t: Test, world: AccessWorld): Promise<void> {
  const { send, mint, signIn, createKey } = world
  const owner = await signIn()
  const keyPath = (apiKey: string, action = '') => `/v1/dashboard/credentials/${apiKey}${action}`
  const mintWith = async (keys: { api_key: string; api_secret: string }) => {
    const { api_key, api_secret } = keys
    return (await send('POST', '/v1/auth/token', { body: { api_key, api_secret }, fresh: true })).code
  }
  /** The codes of many requests, each over a connection of its own, so that both gateways answer some. */
  const codesOf = async (token: string, path = '/v1/games') => {
    const answers = await Promise.all(
      Array.from({ length: looks }, () => send('GET', path, { token, fresh: true })),
    )
    return new Set(answers.map(({ code }) => code))
  }
  const everywhere = (what: string, token: string, code: string | null, path?: string) =>
    waitFor(
      async () => {
        const codes = await codesOf(token, path)
        return codes.size === 1 && codes.has(code)
      },
      { timeoutMs: 2000, what },
    )

  await t.test('no old secret mints after the answer of a rotation, with 50 mints under way', async (t) => {
    const keys = await createKey(owner)
    const under = Array.from({ length: mintsAtOnce }, () => mintWith(keys))
    const { status, body } = await send('POST', keyPath(keys.api_key, '/rotate'), { token: owner })
    const after = await Promise.all(Array.from({ length: mintsAtOnce }, () => mintWith(keys)))
    t.equal(status, 200)
    t.strictSame(new Set(after), new Set(['INVALID_CREDENTIALS']))
    t.notOk((await Promise.all(under)).some((code) => code !== null && code !== 'INVALID_CREDENTIALS'))
    t.equal(await mintWith({ ...keys, api_secret: String(body.api_secret) }), null, 'the new secret mints')
  })

  await t.test(
    'a token lives on through a rotation, and dies everywhere within 2 s of a revocation',
    async (t) => {
      const keys = await createKey(owner)
      const token = await mint(keys)
      await send('POST', keyPath(keys.api_key, '/rotate'), { token: owner })
      t.strictSame(await codesOf(token), new Set([null]))
      await send('POST', keyPath(keys.api_key, '/revoke'), { token: owner })
      await everywhere('the token to die on both gateways', token, 'INVALID_CREDENTIALS')
      t.equal(await mintWith(keys), 'INVALID_CREDENTIALS')
      for (let again = 0; again < 3; again++)
        t.strictSame(await codesOf(token), new Set(['INVALID_CREDENTIALS']), 'and stays dead')
      const rotated = await send('POST', keyPath(keys.api_key, '/rotate'), { token: owner })
      t.equal(rotated.code, 'CONFLICT')
    },
  )

  await t.test('a deleted key is gone, its token too', async (t) => {
    const keys = await createKey(owner)
    const token = await mint(keys)
    t.equal((await send('DELETE', keyPath(keys.api_key), { token: owner })).status, 204)
    await everywhere('the token to die on both gateways', token, 'INVALID_CREDENTIALS')
    t.equal((await send('GET', keyPath(keys.api_key), { token: owner })).code, 'NOT_FOUND')
  })

  await t.test('a change of scopes counts for tokens already minted', async (t) => {
    const keys = await createKey(owner, { scopes: ['games:read'] })
    const token = await mint(keys)
    t.strictSame(await codesOf(token), new Set([null]))
    const refused = await send('GET', '/v1/sessions', { token })
    t.match(refused.body, { code: 'INSUFFICIENT_SCOPE', message: /sessions:read/ })
    const body = { scopes: ['sessions:write'] }
    t.equal((await send('PATCH', keyPath(keys.api_key), { token: owner, body })).status, 200)
    await everywhere('the old scope to end', token, 'INSUFFICIENT_SCOPE')
    await everywhere('the new scope to begin', token, null, '/v1/sessions')
  })

  await t.test("a suspended account's tokens are refused everywhere within 2 s, and come back", async (t) => {
    const { second, ops } = world
    const boss = await signIn(second.dashboard)
    const refused = await send('POST', '/v1/dashboard/credentials', {
      token: boss,
      body: { name: 'Live', environment: 'LIVE', scopes: [], ip_allowlist: [] },
    })
    t.match(refused.body, { code: 'FORBIDDEN', message: /"free" plan/ })
    const keys = await createKey(boss)
    const token = await mint(keys)
    await ops(
      'operator',
      'set',
      second.operatorId,
      '--suspended',
      'yes',
      '--plan',
      'paid',
      '--approved',
      'yes',
    )
    await everywhere('both gateways to refuse', token, 'OPERATOR_SUSPENDED')
    t.equal(await mintWith(keys), 'OPERATOR_SUSPENDED')
    await ops('operator', 'set', second.operatorId, '--suspended', 'no')
    await everywhere('both gateways to allow', token, null)
  })
}
