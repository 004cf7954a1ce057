import { amount } from '@pitboss/contracts/primitives'
import t from 'tap'
import { ask, type AskOptions } from '../fixtures/ask.ts'
import { startWorld } from '../fixtures/start-world.ts'
import { filledPath, ids } from '../fixtures/test-ids.ts'

const world = await startWorld(t)
const { url } = world
const token = await world.operatorToken()
const player = await world.playerToken()
const user = await world.userToken()
const filledUrl = (path: string) => `${url}${filledPath(path)}`
const deep = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`
const session = { player_id: 'p', game: 'dice', currency: 'EUR' }
const bytes = (...parts: (string | number[])[]) =>
  new Uint8Array(Buffer.concat(parts.map((part) => Buffer.from(part))))

/** Bodies of `POST /v1/sessions` that are not taken, with the path that the details name. */
const badBodies: [name: string, raw: string | Uint8Array<ArrayBuffer>, path: string][] = [
  ['no JSON', 'nonsense', 'body'],
  ['cut off', '{"player_id":"p"', 'body'],
  ['trailing comma', '{"player_id":"p",}', 'body'],
  ['trailing text', '{} {}', 'body'],
  ['single quotes', "{'player_id':'p'}", 'body'],
  ['comment', '{} // hello', 'body'],
  ['leading zeros', '{"expires_in_s":060}', 'body'],
  ['NaN', '{"expires_in_s":NaN}', 'body'],
  ['raw control character', '{"player_id":"a\nb"}', 'body'],
  ['bad escape', '{"player_id":"\\x41"}', 'body'],
  ['only spaces', '   ', 'body'],
  ['an array', '[]', 'body'],
  ['a string', '"x"', 'body'],
  ['null', 'null', 'body'],
  ['a byte order mark', bytes([0xef, 0xbb, 0xbf], JSON.stringify(session)), 'body'],
  ['invalid UTF-8', bytes('{"player_id":"', [0xff, 0xfe], '"}'), 'body'],
  ['UTF-16', new Uint8Array(Buffer.from(JSON.stringify(session), 'utf16le')), 'body'],
  ['a key twice', '{"player_id":"p","player_id":"q"}', 'player_id'],
  ['a key twice, one escaped', '{"player_id":"p","player\\u005fid":"q"}', 'player_id'],
  ['a key twice further in', '{"limits":{"min_stake":"1","min_stake":"2"}}', 'limits.min_stake'],
  ['__proto__', '{"__proto__":{"admin":true}}', '__proto__'],
  ['__proto__ further in', '{"metadata":{"__proto__":"x"}}', 'metadata.__proto__'],
  ['__proto__ escaped', '{"metadata":{"__pr\\u006fto__":"x"}}', 'metadata.__proto__'],
  ['constructor.prototype', '{"metadata":{"constructor":{"prototype":{}}}}', 'metadata.constructor'],
  ['NUL', '{"player_id":"a\\u0000b"}', 'player_id'],
  ['NUL in a key', '{"metadata":{"a\\u0000":"x"}}', 'metadata'],
  ['a lone surrogate', '{"player_id":"\\ud800"}', 'player_id'],
  ['surrogates the wrong way round', '{"player_id":"\\udc00\\ud800"}', 'player_id'],
  ['a number beyond all', '{"expires_in_s":1e999}', 'expires_in_s'],
  ['a number that would be another', '{"outcome":{"seed":9007199254740993}}', 'outcome.seed'],
  ['21 levels', deep(21), 'body'],
  ['10,000 levels', deep(10_000), 'body'],
  ['64 KiB and one', JSON.stringify({ player_id: 'x'.repeat(65_536) }), 'body'],
  ['1 MiB', JSON.stringify({ player_id: 'x'.repeat(1_048_576) }), 'body'],
  ['an unknown field', JSON.stringify({ ...session, colour: 'red' }), 'colour'],
  ['an unknown field further in', JSON.stringify({ ...session, limits: { colour: '1' } }), 'limits.colour'],
  ['a missing field', JSON.stringify({ player_id: 'p', game: 'dice' }), 'currency'],
  ['a wrong type', JSON.stringify({ ...session, player_id: 7 }), 'player_id'],
  ['null for a text', JSON.stringify({ ...session, game: null }), 'game'],
  ['an amount as a number', JSON.stringify({ ...session, limits: { min_stake: 10 } }), 'limits.min_stake'],
  ['too short a life', JSON.stringify({ ...session, expires_in_s: 59 }), 'expires_in_s'],
  ['a broken number', JSON.stringify({ ...session, expires_in_s: 60.5 }), 'expires_in_s'],
  ['a number as text', JSON.stringify({ ...session, expires_in_s: '3600' }), 'expires_in_s'],
  ['too long a player', JSON.stringify({ ...session, player_id: 'x'.repeat(129) }), 'player_id'],
  ['an empty player', JSON.stringify({ ...session, player_id: '' }), 'player_id'],
  ['a script address', JSON.stringify({ ...session, return_url: 'javascript:alert(1)' }), 'return_url'],
  ...[
    'https://op.example\\@evil.example/',
    'https://@op.example/',
    'https://op.example/a\tb',
    'https://op.example/ ',
    'https://op.example/\u202e',
  ].map((return_url): [string, string, string] => [
    `the address ${return_url}`,
    JSON.stringify({ ...session, return_url }),
    'return_url',
  ]),
  ...['en-US-en-US', 'en-a', 'deutsch-', 'en--us', 'x'].map((language): [string, string, string] => [
    `the language ${language}`,
    JSON.stringify({ ...session, language }),
    'language',
  ]),
  ['metadata that is no text', JSON.stringify({ ...session, metadata: { a: 1 } }), 'metadata.a'],
]

await t.test('a body that is not right is VALIDATION_ERROR naming the path', async (t) => {
  for (const [name, raw, path] of badBodies) {
    const answer = await ask(`${url}/v1/sessions`, { method: 'POST', token, raw })
    t.match(answer, { status: 422, code: 'VALIDATION_ERROR' }, name)
    t.ok(
      answer.paths.some((named) => named === path || (path === 'metadata' && named.startsWith(path))),
      `${name}: ${answer.paths.join()}`,
    )
  }
})

await t.test('a name is one line, a note may have several, and neither acts on who reads it', async (t) => {
  const notes = [
    ['POST', `${url}/v1/players/p1/stop`, token, (reason: string) => ({ reason })],
    ['PUT', `${url}/v1/players/p1/limits`, token, (reason: string) => ({ reason, limits: [] })],
    [
      'PATCH',
      filledUrl('/v1/dashboard/webhooks/{webhook_id}'),
      user,
      (description: string) => ({ description }),
    ],
    ['PATCH', filledUrl('/v1/dashboard/flags/{flag_id}'), user, (note: string) => ({ note })],
  ] as const
  const names = [
    ['PATCH', `${url}/v1/dashboard/business`, user, (name: string) => ({ name })],
    ['POST', `${url}/v1/dashboard/brands`, user, (name: string) => ({ name })],
  ] as const
  const acting = ['a\u001b[2K', 'a\u009b', 'a\u007f', 'a\u202eb', 'a\u2066b', 'a\u061cb', 'a\u2028b', 'a\rb']
  for (const [method, path, token, bodyOf] of [...notes, ...names])
    for (const text of acting)
      t.match(
        await ask(path, { method, token, body: bodyOf(text) }),
        { status: 422 },
        `${path} ${encodeURIComponent(text)}`,
      )
  for (const [method, path, token, bodyOf] of notes)
    t.match(await ask(path, { method, token, body: bodyOf('one\ntwo\r\n\tthree') }), { status: 200 }, path)
  for (const [method, path, token, bodyOf] of names)
    t.match(
      await ask(path, { method, token, body: bodyOf('one\ntwo') }),
      { status: 422, paths: ['name'] },
      path,
    )
})

await t.test('every offending path is named', async (t) => {
  const body = { player_id: 1, game: 2, currency: 'eur', x: 1, y: 2 }
  const { paths } = await ask(`${url}/v1/sessions?z=1`, { method: 'POST', token, body })
  t.same(paths.toSorted(), ['currency', 'game', 'player_id', 'x', 'y', 'z'])
})

await t.test('what is at the edge is taken', async (t) => {
  const bodies = [
    ` \n${JSON.stringify(session)}\t `,
    JSON.stringify({ ...session, player_id: '😀', metadata: { constructor: 'Ada', toString: 'x' } }),
    JSON.stringify({ ...session, player_id: 'x'.repeat(128) }).padEnd(65_536),
    ...['pt_BR', 'zh-Hant-TW', 'zh-cmn-Hans-CN', 'de-CH-1996', 'sr-Latn-RS-u-ca-gregory-x-a', 'es-419'].map(
      (language) => JSON.stringify({ ...session, language }),
    ),
    JSON.stringify({ ...session, return_url: 'http://localhost:3000/lobby?from=a%20b#x@y' }),
    JSON.stringify({ ...session, player_id: '\u{10000}\ud83d\ude00' }),
  ]
  for (const raw of bodies)
    t.equal((await ask(`${url}/v1/sessions`, { method: 'POST', token, raw })).status, 201)
  const bet = { stake: '1', bet: JSON.parse(deep(19)) }
  t.equal((await ask(`${url}/v1/game/rounds`, { method: 'POST', token: player, body: bet })).status, 201)
})

await t.test('only plain JSON is taken', async (t) => {
  const raw = JSON.stringify(session)
  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'application/json; charset=latin1',
    'application/json; version=1; charset=iso-8859-1',
    'application/json; charset=utf-8; charset=iso-8859-1',
  ]
  const more = [
    'application/json, text/plain',
    'multipart/form-data; boundary=x',
    'application/merge-patch+json',
    'garbage;;',
  ]
  for (const type of [...types, ...more]) {
    const answer = await ask(`${url}/v1/sessions`, {
      method: 'POST',
      token,
      raw,
      headers: { 'content-type': type },
    })
    t.match(answer, { status: 422, code: 'VALIDATION_ERROR', paths: ['content-type'] }, type)
  }
  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'APPLICATION/JSON;charset="UTF-8"',
    'application/json;',
    'application/json; charset=utf8',
    'application/json; version=1; charset=utf-8',
  ]) {
    const answer = await ask(`${url}/v1/sessions`, {
      method: 'POST',
      token,
      raw,
      headers: { 'content-type': type },
    })
    t.equal(answer.status, 201, type)
  }
  const headers = { 'content-encoding': 'gzip' }
  t.match(await ask(`${url}/v1/sessions`, { method: 'POST', token, raw, headers }), {
    paths: ['content-encoding'],
  })
})

await t.test('a route without a body takes none or {} and nothing else', async (t) => {
  const path = `${url}/v1/sessions/${ids.session}/close`
  t.equal((await ask(path, { method: 'POST', token })).status, 200)
  t.equal((await ask(path, { method: 'POST', token, body: {} })).status, 200)
  t.match(await ask(path, { method: 'POST', token, body: { x: 1 } }), {
    code: 'VALIDATION_ERROR',
    paths: ['x'],
  })
  t.match(await ask(path, { method: 'POST', token, body: [] }), { code: 'VALIDATION_ERROR', paths: ['body'] })
  const nothing = { raw: 'null', headers: { 'content-type': 'application/json' } }
  t.match(await ask(path, { method: 'POST', token, ...nothing }), {
    code: 'VALIDATION_ERROR',
    paths: ['body'],
  })
  t.match(await ask(`${url}/v1/sessions`, { method: 'POST', token }), {
    code: 'VALIDATION_ERROR',
    paths: ['body'],
  })
  const rotate = `${url}/v1/dashboard/webhooks/whe_x/rotate-secret`
  t.equal(
    (await ask(rotate, { method: 'POST', token: user })).status,
    200,
    'a body of optional fields may be missing',
  )
  t.same(world.forwarded.at(-1)?.request.body, { overlap_s: 86_400 })
})

const badQueries: [path: string, named: string][] = [
  ['/v1/sessions?colour=red', 'colour'],
  ['/v1/sessions?limit=1&limit=2', 'limit'],
  ['/v1/sessions?limit=1&lim%69t=2', 'limit'],
  ['/v1/sessions?limit=0', 'limit'],
  ['/v1/sessions?limit=201', 'limit'],
  ['/v1/sessions?limit=1.5', 'limit'],
  ['/v1/sessions?limit=%2B5', 'limit'],
  ['/v1/sessions?limit=', 'limit'],
  ['/v1/sessions?limit[]=5', 'limit[]'],
  ['/v1/sessions?status=OPEN', 'status'],
  ['/v1/sessions?status=active', 'status'],
  ['/v1/sessions?from=2026-02-30T00:00:00Z', 'from'],
  ['/v1/sessions?from=2026-11-20', 'from'],
  ['/v1/sessions?from=2026-11-20T09:30:00+01:00', 'from'],
  ['/v1/sessions?from=2026-11-20T09:30:60Z', 'from'],
  ['/v1/sessions?from=1700000000', 'from'],
  ['/v1/sessions?to=2026-13-01T00:00:00Z', 'to'],
  ['/v1/sessions?to=2026-11-20T25:00:00Z', 'to'],
  ['/v1/sessions?from=2026-11-20T00:00:00.001Z&to=2026-11-20T00:00:00.000Z', 'from'],
  ['/v1/sessions?player_id=%00', 'player_id'],
  ['/v1/sessions?player_id=%zz', 'player_id'],
  ['/v1/sessions?player_id=%ff', 'player_id'],
  ['/v1/sessions?__proto__=x', '__proto__'],
  ['/v1/sessions?=x', 'query'],
  ['/v1/sessions?cursor=', 'cursor'],
  ['/v1/events?type=round.unknown', 'type'],
  ['/v1/events?environment=LIVE', 'environment'],
  ['/v1/games?x', 'x'],
  [`/v1/rounds/${ids.round}?x=1`, 'x'],
  ['/v1/reports/summary?group_by=week', 'group_by'],
  ['/v1/events/manifest?from=2026-11-20T00:00:00Z', 'to'],
]

await t.test('a query that is not right is VALIDATION_ERROR naming the field', async (t) => {
  for (const [path, named] of badQueries) {
    const answer = await ask(url + path, { token })
    t.match(answer, { status: 422, code: 'VALIDATION_ERROR' }, path)
    t.ok(answer.paths.includes(named), `${path}: ${answer.paths.join()}`)
  }
  const ok = [
    '/v1/sessions?',
    '/v1/sessions?limit=200',
    '/v1/sessions?from=2024-02-29T00:00:00Z',
    '/v1/sessions?player_id=a+b%20c',
  ]
  const same = '/v1/sessions?from=2026-11-20T00:00:00Z&to=2026-11-20T00:00:00.000Z'
  for (const path of [...ok, same]) t.equal((await ask(url + path, { token })).status, 200, path)
})

await t.test('a movement is judged by its type', async (t) => {
  const place = (body: unknown) => ask(`${url}/v1/transactions`, { method: 'POST', token, body })
  const bet = { type: 'BET', transaction_id: 'b', session_id: ids.session, amount: '1.00', currency: 'EUR' }
  const cases: [unknown, string[]][] = [
    [{ ...bet, type: 'PAY' }, ['type']],
    [{ ...bet, type: undefined }, ['type']],
    [{ ...bet, amount: 1 }, ['amount']],
    [{ ...bet, final: true }, ['final']],
    [{ ...bet, transaction_id: 'a b' }, ['transaction_id']],
    [{ ...bet, transaction_id: 'x'.repeat(129) }, ['transaction_id']],
    [{ type: 'WIN', transaction_id: 'w', round_id: ids.round, amount: '-1', currency: 'EUR' }, ['amount']],
    [{ type: 'REFUND', transaction_id: 'r' }, ['reference_transaction_id']],
    [[bet], ['body']],
  ]
  for (const [body, paths] of cases) {
    const answer = await place(body)
    t.match(answer, { status: 422, code: 'VALIDATION_ERROR' }, JSON.stringify(body))
    t.same(answer.paths, paths)
  }
})

await t.test('amounts are decimal strings of one spelling', (t) => {
  const bad = [
    '',
    '01',
    '1.',
    '.5',
    '+1',
    '-1',
    '1e3',
    ' 1',
    '1 ',
    '1,0',
    '0x1',
    '١',
    '1'.repeat(16),
    `1.${'1'.repeat(19)}`,
    'NaN',
  ]
  for (const text of bad) t.notOk(amount.safeParse(text).success, text)
  for (const text of ['0', '0.00', '10', '999999999999999.123456789012345678'])
    t.ok(amount.safeParse(text).success, text)
  t.end()
})

await t.test('an Idempotency-Key is 1 to 128 printable characters, where it counts', async (t) => {
  const create = (headers: Record<string, string>) =>
    ask(`${url}/v1/sessions`, { method: 'POST', token, body: session, headers })
  for (const key of ['x'.repeat(129), 'a\tb', 'ä']) {
    t.match(
      await create({ 'idempotency-key': key }),
      { status: 422, paths: ['Idempotency-Key'] },
      key.slice(0, 5),
    )
  }
  t.equal((await create({ 'idempotency-key': 'x'.repeat(128) })).status, 201)
  const options: AskOptions = { token, headers: { 'idempotency-key': 'x'.repeat(300) } }
  t.equal((await ask(`${url}/v1/sessions`, options)).status, 200, 'reads do not look at it')
})

await t.test('a value that is not among those allowed is told which they are', async (t) => {
  const body = JSON.stringify({ ...session, stake_cap: 'big' })
  const { json } = await ask(`${url}/v1/sessions`, { method: 'POST', token, raw: body })
  t.match(json, {
    code: 'VALIDATION_ERROR',
    details: [{ path: 'stake_cap', message: 'must be one of slots, slots-25-over' }],
  })
})
