import { ServiceError } from '@pitboss/errors/service-error'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { ask } from '../fixtures/ask.ts'
import { newCredential, startWorld } from '../fixtures/start-world.ts'
import { ids } from '../fixtures/test-ids.ts'

const world = await startWorld(
  t,
  {
    PITBOSS_LIMIT_OPERATOR_PER_S: '20',
    PITBOSS_LIMIT_OPERATOR_BURST: '40',
    PITBOSS_LIMIT_LAUNCHER_PER_S: '5',
    PITBOSS_LIMIT_DASHBOARD_PER_S: '5',
    PITBOSS_TRUSTED_PROXIES: '127.0.0.1',
  },
  { gateways: 2 },
)
const urls = world.gateways.map(({ url }) => url)
const [url = ''] = urls
const bet = { type: 'BET', transaction_id: 'b', session_id: ids.session, amount: '1.00', currency: 'EUR' }
const win = { type: 'WIN', transaction_id: 'w', round_id: ids.round, amount: '1.00', currency: 'EUR' }

/** Sends many at once, on however slow a machine, until one of them is refused for its rate. */
const exhaust = (request: () => ReturnType<typeof ask>) =>
  waitFor(async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, request))
    return answers.some(({ code }) => code === 'RATE_LIMITED')
  })

await t.test('two gateways let a credential through as often as one', async (t) => {
  const token = await world.operatorToken()
  let admitted = 0
  let sent = 0
  const once = async () => {
    const sentAtMs = performance.now()
    const answers = await Promise.all(
      urls.flatMap((one) => Array.from({ length: 4 }, () => ask(`${one}/v1/games`, { token }))),
    )
    sent += answers.length
    admitted += answers.filter(({ status }) => status === 200).length
    return {
      sentAtMs,
      refused: answers.every(({ code }) => code === 'RATE_LIMITED') ? answers[0] : undefined,
    }
  }
  const startedAtMs = performance.now()
  await once()
  const filledAtMs = performance.now()
  // Whatever the machine does meanwhile: once both gateways refuse all, nothing that was due has been left.
  let last = await once()
  while (last.refused === undefined || last.sentAtMs - filledAtMs < 3000) last = await once()
  const allowed = (ms: number) => 40 + (20 * ms) / 1000
  const [least, most] = [allowed(last.sentAtMs - filledAtMs), allowed(performance.now() - startedAtMs)]
  const shown = `${admitted} of ${sent}, the limit is ${least} to ${most}`
  t.ok(admitted >= least * 0.98 - 1 && admitted <= most + Math.max(2, most * 0.02), shown)
  const { refused } = last
  t.match(refused, { status: 429, code: 'RATE_LIMITED' })
  t.equal(refused.headers.get('retry-after'), '1')
  t.equal(refused.headers.get('ratelimit-limit'), '40')
  t.equal(refused.headers.get('ratelimit-remaining'), '0')
  // 40 at 20 a second; what the other gateway let through meanwhile is booked as debt, some tenths of a
  // second more.
  t.match(refused.headers.get('ratelimit-reset'), /^[23]$/)
})

await t.test('a settlement is never limited, a stake is', async (t) => {
  const token = await world.operatorToken()
  const place = (body: unknown) => ask(`${url}/v1/transactions`, { method: 'POST', token, body })
  await exhaust(() => place(bet))
  for (let times = 0; times < 50; times++) {
    const answer = await place(win)
    if (answer.status !== 201 || answer.headers.has('ratelimit-limit')) t.fail(answer.text)
  }
  for (const type of ['REFUND', 'ROLLBACK']) {
    const body = { type, transaction_id: 'r', reference_transaction_id: 'b' }
    t.equal((await place(body)).status, 201, type)
  }
  t.equal((await ask(`${url}/v1/rounds/${ids.round}/void`, { method: 'POST', token })).status, 200)
  t.equal(
    (await place({ ...bet, amount: 1 })).code,
    'VALIDATION_ERROR',
    'the body comes before the limit here',
  )
})

await t.test('a player is limited by session, but never in finishing a round', async (t) => {
  const token = await world.playerToken()
  await exhaust(() => ask(`${url}/v1/game/rounds`, { token }))
  const round = `${url}/v1/game/rounds/${ids.round}`
  for (let times = 0; times < 20; times++) {
    t.equal((await ask(`${round}/reveal`, { method: 'POST', token, body: { tile: 3 } })).status, 200)
    t.equal((await ask(`${round}/cashout`, { method: 'POST', token })).status, 200)
  }
})

await t.test('a dashboard user is limited', async () => {
  const token = await world.userToken()
  await exhaust(() => ask(`${url}/v1/dashboard/me`, { token }))
})

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
const mint = (address: string, apiKey: string, more: object = {}) =>
  ask(`${url}/v1/auth/token`, {
    method: 'POST',
    body: { api_key: apiKey, api_secret: 'right', ...more },
    ...from(address),
  })

await t.test('guesses at one key from one address stop, its owner elsewhere still mints', async (t) => {
  world.directory.mint = ({ api_secret }) => {
    if (api_secret !== 'right') throw new ServiceError('INVALID_CREDENTIALS')
  }
  const codes: (string | null)[] = []
  for (let times = 0; times < 110; times++)
    codes.push((await mint('192.0.2.1', ids.testKey, { api_secret: 'guess' })).code)
  t.equal(codes.filter((code) => code === 'INVALID_CREDENTIALS').length, 30)
  t.equal(codes.filter((code) => code === 'RATE_LIMITED').length, 80)
  t.equal(
    (await mint('192.0.2.1', ids.testKey)).code,
    'RATE_LIMITED',
    'not even with the right secret from there',
  )
  t.equal((await mint('192.0.2.2', ids.testKey)).status, 200)
})

await t.test('messages between gateways stay small, whatever keys clients choose', async (t) => {
  const longest: number[] = []
  const told = world.services.subscribe('gw.limits.v1', ({ data }) => longest.push(data.length))
  await world.services.nc.flush()
  // 500 of these in one exchange would be more than NATS takes, and the gateway would die of it.
  t.equal((await mint('192.0.2.3', '\u0001'.repeat(512))).status, 200)
  await waitFor(async () => longest.length >= 1)
  told.unsubscribe()
  t.ok(Math.max(...longest) < 500, `${Math.max(...longest)} bytes`)
})

await t.test('a clock that is set back locks nobody out', async (t) => {
  let behindMs = 0
  const { url: own } = await world.addGateway({}, () => Date.now() - behindMs)
  const login = () =>
    ask(`${own}/v1/dashboard/login`, {
      method: 'POST',
      body: { email: 'clock@casino.example', password: 'wrong' },
      ...from('192.0.2.4'),
    })
  for (let times = 0; times < 10; times++) await login()
  behindMs = 3_600_000
  const refused = await login()
  t.equal(refused.code, 'RATE_LIMITED')
  t.ok(Number(refused.headers.get('retry-after')) <= 60, refused.headers.get('retry-after') ?? '')
})

await t.test('tokens of one key are limited wherever they are minted from', async (t) => {
  const codes: (string | null)[] = []
  for (let times = 0; times < 40; times++) codes.push((await mint(`198.51.100.${times}`, ids.liveKey)).code)
  t.same(codes, [...Array(30).fill(null), ...Array(10).fill('RATE_LIMITED')])
})

await t.test('the address is counted before the shape, a v6 one by its /64', async (t) => {
  const answers = []
  for (let times = 0; times < 121; times++) {
    answers.push(
      await ask(`${url}/v1/auth/token`, { method: 'POST', raw: 'rubbish', ...from(`2001:db8::${times}`) }),
    )
  }
  t.ok(answers.slice(0, 120).every(({ code }) => code === 'VALIDATION_ERROR'))
  t.equal(answers[120]?.code, 'RATE_LIMITED')
  t.ok(Number(answers[120]?.headers.get('retry-after')) > 50)
  t.equal((await mint('2001:db8:0:1::1', 'ck_test_other')).status, 200)
})

await t.test('logins are limited by e-mail and address, and by address', async (t) => {
  const login = (address: string, email: string, password = 'wrong', cookie: string | null = null) => {
    const headers = { ...from(address).headers, ...(cookie === null ? {} : { cookie }) }
    return ask(`${url}/v1/dashboard/login`, { method: 'POST', body: { email, password }, headers })
  }
  for (let times = 0; times < 10; times++) {
    const email = times % 2 === 0 ? 'ada@example.com' : 'ADA@example.com'
    t.equal((await login('203.0.113.1', email)).code, 'INVALID_CREDENTIALS')
  }
  t.equal((await login('203.0.113.1', 'ada@example.com', 'right')).code, 'RATE_LIMITED')
  const owner = await login('203.0.113.99', 'ada@example.com', 'right')
  t.equal(owner.status, 200, 'the owner signs in from another address')
  for (let times = 0; times < 30; times++) await login('203.0.113.200', `u${times}@example.com`)
  t.equal((await login('203.0.113.200', 'fresh@example.com')).code, 'RATE_LIMITED')

  const device = owner.headers.getSetCookie().find((cookie) => cookie.includes('pitboss_device')) ?? ''
  t.match(device, /^__Host-pitboss_device=device-1; Path=\/; .*HttpOnly; SameSite=Strict; Secure$/)
  const [cookie = ''] = device.split(';')
  for (let times = 0; times < 30; times++) await login(`203.0.113.${100 + times}`, 'ada@example.com')
  t.equal((await login('198.51.100.1', 'ada@example.com', 'right')).code, 'RATE_LIMITED', 'a stranger waits')
  t.equal(
    (await login('198.51.100.2', 'ada@example.com', 'right', cookie)).status,
    200,
    'a known device does not',
  )
  const forged = cookie.replace('device-1', 'device-2')
  t.equal((await login('198.51.100.3', 'ada@example.com', 'right', forged)).code, 'RATE_LIMITED')
  t.equal((await login('198.51.100.4', 'grace@example.com', 'right')).status, 200, 'another e-mail is free')
  for (let times = 0; times < 30; times++)
    t.equal((await login(`192.0.2.${times}`, 'ada@example.com', 'wrong', cookie)).code, 'INVALID_CREDENTIALS')
  t.equal(
    (await login('192.0.2.99', 'ada@example.com', 'right', cookie)).code,
    'RATE_LIMITED',
    'guesses from a known device are counted, too',
  )
})

await t.test(
  'the keys and people of an account share a bucket of five times a key, players do not',
  async (t) => {
    const {
      url: own,
      operatorToken,
      userToken,
      playerToken,
      directory,
    } = await startWorld(t, { PITBOSS_LIMIT_OPERATOR_BURST: '2' }, { isLimitClockStanding: true })
    const games = async (token: string) => (await ask(`${own}/v1/games`, { token })).code
    const codes: (string | null)[] = []
    for (let key = 0; key < 20; key++) {
      const apiKey = `ck_test_${String(key).padStart(24, '0')}`
      directory.credentials.set(apiKey, newCredential())
      const token = await operatorToken({}, apiKey)
      codes.push(await games(token), await games(token))
    }
    t.same(codes, [...Array(10).fill(null), ...Array(30).fill('RATE_LIMITED')], 'each key has its own bucket')
    await waitFor(async () => {
      const answer = await ask(`${own}/v1/dashboard/me`, { token: await userToken() })
      return answer.code === 'RATE_LIMITED'
    })
    t.equal((await ask(`${own}/v1/game/rounds`, { token: await playerToken() })).status, 200)
  },
)
