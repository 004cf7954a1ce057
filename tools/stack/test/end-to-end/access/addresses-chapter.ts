import type { Test } from 'tap'
import type { AccessWorld } from './access-world.ts'

const guesses = 3000
const guessersAtOnce = 64
const looksPerMinute = 300
/** What one exchange between the gateways may let through on top. */
const slack = 1.1

/** Where a request comes from: allowlists, the trusted proxy, and guessing. */
export async function addressesChapter(t: Test, world: AccessWorld): Promise<void> {
  const { send, signIn, createKey, mint } = world
  const owner = await signIn()
  const allowed = '203.0.113.9'

  await t.test(
    'an allowlist holds at minting and at each request, by the address that the proxy names',
    async (t) => {
      const keys = await createKey(owner, { ip_allowlist: ['203.0.113.0/24', '2001:db8::/48'] })
      const body = { api_key: keys.api_key, api_secret: keys.api_secret }
      const minting = (options: object) => send('POST', '/v1/auth/token', { body, ...options })
      t.equal((await minting({})).code, 'IP_NOT_ALLOWED')
      t.equal((await minting({ from: '198.51.100.1' })).code, 'IP_NOT_ALLOWED')
      const guessed = { ...body, api_secret: 'cs_test_wrong' }
      t.equal(
        (await send('POST', '/v1/auth/token', { body: guessed })).code,
        'IP_NOT_ALLOWED',
        'the address is judged before the secret',
      )
      const minted = await minting({ from: allowed })
      t.equal(minted.status, 200, minted.text)
      t.equal((await minting({ from: '2001:db8::1' })).status, 200)
      t.equal((await minting({ from: `::ffff:${allowed}` })).status, 200, 'a mapped address counts as v4')
      const token = String(minted.body.access_token)
      const asking = async (options: object) => (await send('GET', '/v1/games', { token, ...options })).code
      t.equal(await asking({ from: allowed }), null)
      t.equal(await asking({ from: `198.51.100.1, ${allowed}` }), null, 'the last hop counts')
      t.equal(
        await asking({ from: `${allowed}, 198.51.100.1` }),
        'IP_NOT_ALLOWED',
        'what a client wrote itself does not',
      )
      t.equal(await asking({}), 'IP_NOT_ALLOWED')
      t.equal(
        await asking({ headers: { 'x-forwarded-for': allowed }, localAddress: '127.0.0.1' }),
        'IP_NOT_ALLOWED',
        'the header of anybody else than the proxy means nothing',
      )
      t.equal(await asking({ from: 'unknown' }), 'IP_NOT_ALLOWED')
      await send('PATCH', `/v1/dashboard/credentials/${keys.api_key}`, {
        token: owner,
        body: { ip_allowlist: [] },
      })
    },
  )

  await t.test(
    '3,000 guesses at one key from one address stop at the limit; its owner elsewhere still mints',
    async (t) => {
      const keys = await createKey(owner)
      const codes: (string | null)[] = []
      const guess = async () => {
        const api_secret = `cs_test_${String(codes.length).padStart(40, '0')}`
        const body = { api_key: keys.api_key, api_secret }
        const { code } = await send('POST', '/v1/auth/token', { body, from: '198.51.100.66' })
        codes.push(code)
      }
      const guesser = async () => {
        while (codes.length < guesses) await guess()
      }
      const startedMs = performance.now()
      await Promise.all(Array.from({ length: guessersAtOnce }, guesser))
      const minutesBegun = 1 + Math.ceil((performance.now() - startedMs) / 60_000)
      const tried = codes.filter((code) => code === 'INVALID_CREDENTIALS').length
      const most = looksPerMinute * slack * minutesBegun
      t.ok(tried >= looksPerMinute && tried <= most, `${tried} of ${codes.length} guesses were looked at`)
      t.equal(codes.filter((code) => code === 'RATE_LIMITED').length, codes.length - tried)
      t.ok(await mint(keys), 'the owner elsewhere mints')
      const { api_key, api_secret } = keys
      const there = await send('POST', '/v1/auth/token', {
        body: { api_key, api_secret },
        from: '198.51.100.66',
      })
      t.equal(there.code, 'RATE_LIMITED', 'the right secret from there does not')
      t.ok(Number(there.headers['retry-after']) >= 1)
    },
  )
}
