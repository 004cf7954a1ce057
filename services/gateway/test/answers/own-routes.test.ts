import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { ask } from '../fixtures/ask.ts'
import { startWorld } from '../fixtures/start-world.ts'
import { ids } from '../fixtures/test-ids.ts'

const world = await startWorld(t)
const { url } = world
const token = await world.operatorToken()

await t.test('hosts below the base url’s come by https alone where the installation says so', async (t) => {
  const strict = await startWorld(t, { PITBOSS_HSTS_SUBDOMAINS: 'yes' })
  const { headers } = await ask(`${strict.url}/v1/games`)
  t.equal(headers.get('strict-transport-security'), 'max-age=31536000; includeSubDomains')
})

await t.test('the refresh cookie is for this host alone and out of reach of scripts', async (t) => {
  const body = { email: 'ada@example.com', password: 'right' }
  const refused401 = await ask(`${url}/v1/games`)
  t.equal(refused401.headers.get('strict-transport-security'), 'max-age=31536000', 'the base url is https')
  const login = await ask(`${url}/v1/dashboard/login`, { method: 'POST', body })
  t.match(login, { status: 200, json: { access_token: 'a.b.c', expires_in: 3600 } })
  const [cookie = ''] = login.headers.getSetCookie()
  t.equal(cookie, '__Host-pitboss_refresh=refresh-1; Path=/; Max-Age=1000; HttpOnly; SameSite=Strict; Secure')
  t.notMatch(login.text, /refresh-1/)
  const withCookie = (value: string) => ({
    method: 'POST',
    headers: { cookie: `a=b; __Host-pitboss_refresh=${value}` },
  })
  const refreshed = await ask(`${url}/v1/dashboard/refresh`, withCookie('refresh-1'))
  t.equal(refreshed.status, 200)
  t.match(refreshed.headers.get('set-cookie'), /pitboss_refresh=refresh-2;/)
  t.match(await ask(`${url}/v1/dashboard/refresh`, withCookie('old')), {
    status: 401,
    code: 'INVALID_CREDENTIALS',
  })
  t.match(await ask(`${url}/v1/dashboard/refresh`, { method: 'POST' }), {
    status: 401,
    code: 'INVALID_CREDENTIALS',
  })
  const out = await ask(`${url}/v1/dashboard/logout`, withCookie('refresh-2'))
  t.equal(out.status, 204)
  t.match(out.headers.get('set-cookie'), /pitboss_refresh=; .*Max-Age=0/)
  t.equal((await ask(`${url}/v1/dashboard/logout`, { method: 'POST' })).status, 204)
  const current = {
    cookie: '__Host-pitboss_refresh=refresh-1; __Secure-pitboss_refresh=old; pitboss_refresh=old',
  }
  const from = async (headers: object, route = 'refresh') =>
    (await ask(`${url}/v1/dashboard/${route}`, { method: 'POST', headers: { ...current, ...headers } })).code
  t.equal(await from({}), null, 'no cookie of another name counts beside it')
  t.equal(await from({ origin: url, 'sec-fetch-site': 'same-origin' }), null)
  t.equal(await from({ origin: url }), null)
  for (const route of ['refresh', 'logout']) {
    t.equal(await from({ 'sec-fetch-site': 'same-site' }, route), 'FORBIDDEN')
    t.equal(await from({ origin: 'https://other.example.com' }, route), 'FORBIDDEN')
    t.equal(await from({ origin: 'null' }, route), 'FORBIDDEN')
  }
  const accept = { token: 'invite', password: 'a long passphrase' }
  const accepted = await ask(`${url}/v1/dashboard/invitations/accept`, { method: 'POST', body: accept })
  t.match(accepted, { status: 200, json: { user: { user_id: ids.user } } })
  const short = { token: 'invite', password: 'short' }
  const refused = await ask(`${url}/v1/dashboard/invitations/accept`, { method: 'POST', body: short })
  t.match(refused, { status: 422, paths: ['password'] })
})

await t.test('reports are CSV for those who ask', async (t) => {
  const row = {
    currency: 'EUR',
    rounds: 2,
    players: 1,
    stakes: '2.00',
    payouts: '14.50',
    refunds: '0.00',
    adjustments: '0.00',
    ggr: '-12.50',
  }
  world.answers.set('rounds.v1.report.summary', () => ({
    status: 200,
    body: { data: [{ day: '2026-11-20', brand: null, ...row, restated_at: null }] },
  }))
  const path = `${url}/v1/reports/summary`
  const csv = await ask(path, { token, headers: { accept: 'text/csv' } })
  t.match(csv.headers.get('content-type'), /^text\/csv/)
  t.equal(
    csv.text,
    'day,brand,currency,rounds,players,stakes,payouts,refunds,ggr,adjustments,restated_at\r\n2026-11-20,,EUR,2,1,2.00,14.50,0.00,-12.50,0.00,\r\n',
  )
  for (const accept of ['*/*', 'application/json', 'text/csv;q=0.5, application/json', 'text/csv;q=0']) {
    t.match(await ask(path, { token, headers: { accept } }), { json: { data: [row] } }, accept)
  }
  t.match(await ask(`${path}?group_by=x`, { token, headers: { accept: 'text/csv' } }), {
    code: 'VALIDATION_ERROR',
  })
  world.answers.clear()
})

await t.test('the events manifest is signed', async (t) => {
  const window = 'from=2026-11-19T00:00:00Z&to=2026-11-20T00:00:00Z'
  const answer = await ask(`${url}/v1/events/manifest?${window}`, { token })
  t.match(answer, { status: 200, json: { hours: Array, signature: 'signed.pitboss-manifest+jws' } })
})

await t.test('a receipt goes on with the page that sent it, as far as it is served here', async (t) => {
  const pages = t.testdir({ play: { 'dice.html': '<script src="/play/assets/dice-Bx3kQ9aZ.js"></script>' } })
  const withPages = await world.addGateway({ PITBOSS_WEB_FOLDER: pages })
  const playerToken = await world.playerToken()
  for (const [at, build, page] of [
    [withPages.url, 'dice-Bx3kQ9aZ.js', 'dice'],
    [withPages.url, 'dice-Bx3kQ9aY.js', null],
    [url, 'dice-Bx3kQ9aZ.js', null],
  ] as const) {
    const body = { build, language: 'en', text_version: 1, text: 'Rolled', hash: '0'.repeat(64) }
    const sent = await ask(`${at}/v1/game/rounds/${ids.round}/receipt`, {
      ...{ method: 'POST', token: playerToken, body },
    })
    t.equal(sent.status, 200)
    t.match(world.forwarded.at(-1)?.request, { body, added: { page } })
  }
})

await t.test('a wallet callback goes on byte for byte', async (t) => {
  const path = `${url}/v1/public/wallet-callbacks/op_${'0'.repeat(32)}/TEST`
  const raw = '{ "transactionId":"a",  "status":"SUCCESS"}'
  const headers = { 'x-timestamp': '1700000000', 'x-signature': 'good' }
  t.equal((await ask(path, { method: 'POST', raw, headers })).status, 202)
  t.match(await ask(path, { method: 'POST', raw: '{}', headers }), {
    status: 404,
    code: 'TRANSACTION_NOT_FOUND',
  })
  t.match(await ask(path, { method: 'POST', raw }), { status: 401, code: 'INVALID_SIGNATURE' })
  t.match(await ask(path.replace('TEST', 'DEMO'), { method: 'POST', raw, headers }), { status: 404 })
  t.match(await ask(path, { method: 'POST', raw: 'x'.repeat(65_537), headers }), {
    status: 422,
    paths: ['body'],
  })
})

await t.test('a round is verified from itself', async (t) => {
  const verify = (body: unknown) => ask(`${url}/v1/public/verify`, { method: 'POST', body })
  t.match(await verify({ game: 'dice' }), { status: 200, json: { valid: false, checks: Array } })
  t.match(await verify([]), { status: 422, paths: ['body'] })
})

await t.test('event types come with a schema that their example fits', async (t) => {
  const { status, json } = await ask(`${url}/v1/public/event-types`)
  t.equal(status, 200)
  const { data } = Object(json)
  t.equal(data.length, 7)
  for (const { type, schema, example, description } of data) {
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema)
    t.ok(validate(example), `${type}: ${JSON.stringify(validate.errors)}`)
    t.ok(validate({ ...example, later: true, data: { ...example.data, later: true } }), 'additive fields fit')
    t.notOk(validate({ ...example, data: {} }))
    t.ok(description)
  }
})

await t.test('the rules of each jurisdiction are public, and promise nothing else', async (t) => {
  const { status, json, text } = await ask(`${url}/v1/public/compliance`)
  t.equal(status, 200)
  const { data } = Object(json)
  t.strictSame(
    data.map(({ jurisdiction }: { jurisdiction: string }) => jurisdiction),
    ['UK', 'MT', 'ON', 'SE'],
  )
  const [uk, , , se] = data
  t.match(uk, {
    ...{ start_gap_s: 5, reality_check_s: 1800, spend_in_view: true },
    stake_caps: [{ name: 'slots', currency: 'GBP', max_stake: '2.00' }, { name: 'slots-25-over' }],
  })
  t.match(uk.clauses[0], {
    clause: 'RTS 14G',
    enforced_at: [String],
    tests: [{ file: String, name: String }],
  })
  t.strictSame(se, {
    ...{ jurisdiction: 'SE', start_gap_s: null, reality_check_s: null, spend_in_view: false },
    ...{ stake_caps: [], clauses: [] },
  })
  t.notMatch(text, /\bcompliant\b/i)
})

await t.test('public keys are shown as auth knows them', async (t) => {
  t.match(await ask(`${url}/v1/public/jwks.json`), {
    status: 200,
    json: { keys: [{ kid: 'k1', crv: 'Ed25519' }] },
  })
  t.match(await ask(`${url}/v1/public/record-keys.json`), {
    status: 200,
    json: { keys: [{ kid: 'k0' }, { kid: 'k1' }] },
  })
})

await t.test('the page of the description loads everything from here', async (t) => {
  const page = await ask(`${url}/v1/public/docs`)
  t.match(page.headers.get('content-type'), /^text\/html/)
  t.match(
    page.headers.get('content-security-policy'),
    /default-src 'none'; script-src 'self'; style-src 'self'/,
  )
  t.equal(page.headers.get('cross-origin-opener-policy'), 'same-origin')
  const files = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file = '']) => file)
  t.equal(files.length, 4)
  for (const file of files) {
    t.ok(file.startsWith('/v1/public/docs/'), file)
    const answer = await ask(url + file)
    t.equal(answer.status, 200, file)
    const etag = answer.headers.get('etag')
    if (etag !== null) t.equal((await ask(url + file, { headers: { 'if-none-match': etag } })).status, 304)
  }
  for (const path of ['x.js', '../index.js', '..%2f..%2fpackage.json', 'package.json', 'csp.json']) {
    t.match(await ask(`${url}/v1/public/docs/${path}`), { status: 404, code: 'NOT_FOUND' }, path)
  }
})

await t.test('probes say that all is well', async (t) => {
  t.match(await ask(`${url}/healthz?x=1`), { status: 200, json: { status: 'ok' } })
  t.match(await ask(`${url}/readyz`), { status: 200, json: { status: 'ready' } })
})

await t.test(
  'what is no round is refused by verification, a round that does not hold is an answer',
  async (t) => {
    const verify = (body: unknown) => ask(`${url}/v1/public/verify`, { method: 'POST', body })
    t.match(await verify({}), { status: 422, code: 'VALIDATION_ERROR', paths: ['fairness'] })
    t.match(await verify({ a: 1 }), { status: 422, paths: ['fairness'] })
    t.match(await verify({ fairness: {} }), { status: 200, json: { valid: false } })
  },
)
