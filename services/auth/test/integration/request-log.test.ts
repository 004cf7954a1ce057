import { appendRequestLog } from '@pitboss/contracts/calls/auth'
import * as endpoints from '@pitboss/contracts/endpoints/auth'
import t from 'tap'
import { startTestAuth } from '../fixtures/start-test-auth.ts'

const nobody = `usr_${'0'.repeat(26)}`
const none = { params: {}, query: {}, body: undefined }

t.test('the log keeps requests of a deleted key, late ones too, without the key', async (t) => {
  const { bus, callerAs, operatorId } = await startTestAuth(t)
  const caller = await callerAs(nobody)
  const create = async () => {
    const body = { name: 'Key', environment: 'TEST' as const, scopes: [], ip_allowlist: [] }
    return (await bus.call(endpoints.createCredential.call, { caller, ...none, body })).body.api_key
  }
  const [kept, deleted] = [await create(), await create()]
  const row = (request_id: string, api_key: string) => ({
    operatorId,
    environment: 'SANDBOX' as const,
    request_id,
    at: new Date().toISOString(),
    method: 'GET',
    path: '/v1/games',
    status: 200,
    code: null,
    latency_ms: 3,
    api_key,
    client_address: '192.0.2.1',
  })
  const append = (...rows: ReturnType<typeof row>[]) => bus.call(appendRequestLog, { rows })
  const logged = async () => {
    const query = { limit: 50 }
    const { body } = await bus.call(endpoints.listRequestLogs.call, { caller, ...none, query })
    return Object.fromEntries(body.data.map(({ request_id, api_key }) => [request_id, api_key]))
  }
  const first = row('a', deleted)
  t.same(await append(first, row('b', kept)), { written: 2 })
  t.same(await append(first), { written: 0 }, 'a repeated row counts once')
  t.same(await logged(), { a: deleted, b: kept })

  const params = { api_key: deleted }
  const racing = Promise.all(Array.from({ length: 20 }, (_, index) => append(row(`race-${index}`, deleted))))
  await bus.call(endpoints.deleteCredential.call, { caller, ...none, params })
  await racing
  await append(row('late', deleted), row('other', kept))
  const { b, other, ...rest } = await logged()
  t.same([b, other], [kept, kept])
  t.equal(Object.keys(rest).length, 22)
  t.same(new Set(Object.values(rest)), new Set([null]))
})

t.test('a key tells which scopes its requests have used, and refused ones use none', async (t) => {
  const { bus, callerAs, operatorId } = await startTestAuth(t)
  const caller = await callerAs(nobody)
  const body = { name: 'Key', environment: 'TEST' as const, scopes: [], ip_allowlist: [] }
  const { api_key } = (await bus.call(endpoints.createCredential.call, { caller, ...none, body })).body
  const row = (method: string, path: string, status: number) => ({
    ...{ operatorId, environment: 'SANDBOX' as const, request_id: `${method} ${path} ${status}` },
    ...{ at: new Date().toISOString(), method, path, status, code: null, latency_ms: 3, api_key },
    client_address: '192.0.2.1',
  })
  const used = async () => {
    const { body } = await bus.call(endpoints.getCredential.call, { caller, ...none, params: { api_key } })
    return body.scopes_used
  }
  t.strictSame(await used(), [])
  await bus.call(appendRequestLog, {
    rows: [row('GET', '/v1/games', 200), row('POST', '/v1/sessions', 403), row('GET', '/v1/business', 200)],
  })
  t.strictSame(await used(), ['games:read'])
  await bus.call(appendRequestLog, {
    rows: [row('POST', '/v1/sessions', 201), row('GET', '/v1/games', 200), row('GET', '/v1/rounds', 200)],
  })
  t.strictSame(await used(), ['games:read', 'sessions:write', 'history:read'])
})

t.test('a window with an end alone begins 7 days before it', async (t) => {
  const { bus, callerAs, operatorId } = await startTestAuth(t)
  const caller = await callerAs(nobody)
  const end = Date.now()
  const day = 24 * 60 * 60 * 1000
  const at = (daysBefore: number, ms = 0) => new Date(end - daysBefore * day + ms).toISOString()
  const ages: [id: string, at: string][] = [
    ['older', at(7, -1)],
    ['start', at(7)],
    ['end', at(0)],
    ['later', at(0, 1)],
  ]
  const rows = ages.map(([request_id, at]) => ({
    operatorId,
    environment: 'SANDBOX' as const,
    request_id,
    at,
    method: 'GET',
    path: '/v1/games',
    status: 200,
    code: null,
    latency_ms: 3,
    api_key: null,
    client_address: '192.0.2.1',
  }))
  t.same(await bus.call(appendRequestLog, { rows }), { written: 4 })
  const listed = async (window: { from?: string; to?: string }) => {
    const query = { limit: 50, ...window }
    const { body } = await bus.call(endpoints.listRequestLogs.call, { caller, ...none, query })
    return body.data.map(({ request_id }) => request_id)
  }
  t.same(await listed({ to: at(0) }), ['end', 'start'])
  t.same(await listed({ from: at(8), to: at(0) }), ['end', 'start', 'older'])
  t.same(await listed({}), ['later', 'end', 'start', 'older'])
})

t.test('a request is found by its id and the beginning of its path, with what it was told', async (t) => {
  const { bus, callerAs, operatorId } = await startTestAuth(t)
  const caller = await callerAs(nobody)
  const answer = { message: 'Not valid.', details: [{ path: 'stake', message: 'is required' }] }
  const row = (request_id: string, path: string, more: object = {}) => ({
    ...{ operatorId, environment: 'SANDBOX' as const, request_id, path, at: new Date().toISOString() },
    ...{ method: 'POST', status: 201, code: null, latency_ms: 3, api_key: null, client_address: '192.0.2.1' },
    ...more,
  })
  const rows = [
    row('req_1', '/v1/sessions'),
    row('req_2', '/v1/sessions/ses_1/close'),
    row('req_3', '/v1/sessionless', { status: 422, code: 'VALIDATION_ERROR', answer }),
    row('req_4', '/v1/free-bets'),
  ]
  t.same(await bus.call(appendRequestLog, { rows }), { written: 4 })
  const listed = async (filters: { request_id?: string; path?: string }) => {
    const query = { limit: 50, ...filters }
    return (await bus.call(endpoints.listRequestLogs.call, { caller, ...none, query })).body.data
  }
  const ids = async (filters: { request_id?: string; path?: string }) =>
    (await listed(filters)).map(({ request_id }) => request_id).toSorted()
  t.same(await ids({ path: '/v1/sessions' }), ['req_1', 'req_2'])
  t.same(await ids({ path: '/v1/sessions/' }), ['req_2'])
  t.same(await ids({ request_id: 'req_4' }), ['req_4'])
  t.same(await ids({ request_id: 'req_4', path: '/v1/sessions' }), [])
  const [refused] = await listed({ request_id: 'req_3' })
  t.same(refused?.answer, answer)
  t.notOk('answer' in ((await listed({ request_id: 'req_1' }))[0] ?? {}))
  const { body } = await bus.call(endpoints.listMistakes.call, { caller, ...none })
  t.match(body, {
    complete: true,
    data: [
      {
        path: '/v1/sessionless',
        code: 'VALIDATION_ERROR',
        field: 'stake',
        count: 1,
        last_request_id: 'req_3',
      },
    ],
  })
})
