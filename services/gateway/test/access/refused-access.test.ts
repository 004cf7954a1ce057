import { pino } from 'pino'
import t from 'tap'
import { ask } from '../fixtures/ask.ts'
import { newCredential, startWorld } from '../fixtures/start-world.ts'
import { ids } from '../fixtures/test-ids.ts'

const lines: Record<string, unknown>[] = []
const logger = pino({ level: 'info' }, { write: (text: string) => void lines.push(JSON.parse(text)) })

const world = await startWorld(t)
const { directory } = world
const [elsewhere, narrow, viewer] = ['ck_test_elsewhere', 'ck_test_narrow', 'usr_01jd3v8x5q7r2m4n6p8s0t1w3z']
directory.credentials.set(elsewhere, newCredential({ ip_allowlist: ['10.0.0.1'] }))
directory.credentials.set(narrow, newCredential({ scopes: ['games:read'] }))
directory.users.set(viewer, 'VIEWER')
const { url } = await world.addGateway({}, Date.now, logger)

/** The line of one request, without the fields that every line has. */
const refusalOf = (requestId: string | null) => {
  const found = lines.filter(({ msg, request_id }) => msg === 'access.refused' && request_id === requestId)
  return found.map(({ level: _, time: __, pid: ___, hostname: ____, msg: _____, ...line }) => line)
}

await t.test('each refusal of who asks, where from or by which right is a line of its own', async (t) => {
  const refusals = [
    {
      ...{ path: '/v1/games', method: 'GET', code: 'IP_NOT_ALLOWED', status: 403 },
      ...{ token: await world.operatorToken({}, elsewhere), api_key: elsewhere },
    },
    {
      ...{ path: '/v1/sessions', method: 'POST', code: 'INSUFFICIENT_SCOPE', status: 403 },
      ...{ token: await world.operatorToken({}, narrow), api_key: narrow },
    },
    {
      ...{ path: '/v1/dashboard/credentials', method: 'POST', code: 'FORBIDDEN', status: 403 },
      ...{ token: await world.userToken({}, viewer), api_key: null },
    },
  ]
  for (const { path, method, code, status, token, api_key } of refusals) {
    const answer = await ask(url + path, { method, token, body: method === 'GET' ? undefined : {} })
    t.match(answer, { status, code }, code)
    const requestId = answer.headers.get('x-request-id')
    t.strictSame(
      refusalOf(requestId),
      [
        {
          ...{ request_id: requestId, route: `${method} ${path}`, code, client_address: '127.0.0.1' },
          ...(api_key === null ? {} : { operator_id: ids.operator, api_key }),
        },
      ],
      `the line of ${code}`,
    )
  }
})

await t.test('what is served, and what is refused for other reasons, leaves no such line', async (t) => {
  const before = lines.filter(({ msg }) => msg === 'access.refused').length
  const good = await world.operatorToken()
  t.equal((await ask(`${url}/v1/games`, { token: good })).status, 200)
  const bad = await ask(`${url}/v1/sessions`, { method: 'POST', token: good, body: { nonsense: true } })
  t.equal(bad.code, 'VALIDATION_ERROR')
  t.equal((await ask(`${url}/v1/games`)).code, 'UNAUTHORIZED')
  t.equal(lines.filter(({ msg }) => msg === 'request.served').length >= 3, true)
  t.equal(lines.filter(({ msg }) => msg === 'access.refused').length, before)
})
