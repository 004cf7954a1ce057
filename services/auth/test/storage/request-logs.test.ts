import { randomBytes, randomUUID } from 'node:crypto'
import type { Scope } from '@pitboss/contracts/caller'
import { createCursorCodec } from '@pitboss/storage/cursor'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import { parseKeyring } from '@pitboss/storage/keyring'
import { openTestDatabase } from '@pitboss/testing/open-test-database'
import t from 'tap'
import { authIndexes } from '../../src/storage/auth-stores.ts'
import {
  createRequestLogsStore,
  type RequestLogDocument,
  type RequestLogFilters,
} from '../../src/storage/logs-store.ts'

const db = await openTestDatabase(t)
await ensureIndexes(db, authIndexes)
const cursors = createCursorCodec({ keyring: parseKeyring(`k1:${randomBytes(32).toString('base64')}`) })
const logs = createRequestLogsStore({ db, cursors })
const scope: Scope = { operatorId: randomUUID(), environment: 'SANDBOX' }
const beginMs = Date.now() - 60_000
/** More than are sorted; a few of them are like no other. */
const many = 2500

const rows = Array.from({ length: many }, (_, at): RequestLogDocument => {
  const rare = at % 1000 === 17
  const id = randomUUID()
  return {
    ...{ _id: id, order: `${new Date(beginMs + at).toISOString()}/${id}`, ...scope },
    ...{ requestId: rare ? `req_rare_${at}` : 'req_usual', at: new Date(beginMs + at) },
    ...{ method: rare ? 'PUT' : 'POST', path: rare ? '/v1/free-bets/frb_1' : '/v1/sessions' },
    ...{ status: rare ? 404 : 201, code: rare ? 'NOT_FOUND' : null, latencyMs: 1 },
    ...{ apiKey: rare ? 'ck_rare' : 'ck_usual', clientAddress: '203.0.113.9' },
  }
})
const other = { ...scope, operatorId: randomUUID() }
await logs.append(rows)
await logs.append(rows.slice(0, 50).map((row) => ({ ...row, ...other, _id: randomUUID() })))

function holds(row: RequestLogDocument, filters: RequestLogFilters): boolean {
  const { api_key, status, method, code, request_id, path, from, to } = filters
  return (
    (api_key === undefined || row.apiKey === api_key) &&
    (status === undefined || String(row.status) === status) &&
    (method === undefined || row.method === method) &&
    (code === undefined || row.code === code) &&
    (request_id === undefined || row.requestId === request_id) &&
    (path === undefined || row.path.startsWith(path)) &&
    (from === undefined || row.at >= new Date(from)) &&
    (to === undefined || row.at <= new Date(to))
  )
}

const ask: readonly RequestLogFilters[] = [
  {},
  ...['POST', 'PUT', 'GET'].map((method) => ({ method })),
  ...['201', '404', '500'].map((status) => ({ status })),
  ...['NOT_FOUND', 'RATE_LIMITED'].map((code) => ({ code })),
  ...['/v1/sessions', '/v1/free', '/v1', '/v2'].map((path) => ({ path })),
  ...['ck_usual', 'ck_rare', 'ck_none'].map((api_key) => ({ api_key })),
  ...['req_rare_17', 'req_usual', 'req_none'].map((request_id) => ({ request_id })),
  { code: 'NOT_FOUND', status: '404' },
  { code: 'NOT_FOUND', status: '201' },
  { path: '/v1/free', api_key: 'ck_usual' },
  { method: 'POST', status: '201', api_key: 'ck_usual', path: '/v1' },
  { method: 'PUT', from: new Date(beginMs + 500).toISOString(), to: new Date(beginMs + 1500).toISOString() },
]

for (const filters of ask) {
  t.test(`requests by ${JSON.stringify(filters)}: those and no others, newest first`, async (t) => {
    const wanted = rows.filter((row) => holds(row, filters)).map(({ _id }) => _id)
    wanted.reverse()
    const first = await logs.page(scope, filters, { limit: 3 })
    const found = first.rows.map(({ _id }) => _id)
    if (first.nextCursor !== null) {
      const second = await logs.page(scope, filters, { limit: 3, cursor: first.nextCursor })
      found.push(...second.rows.map(({ _id }) => _id))
    }
    t.strictSame(found, wanted.slice(0, 6))
  })
}
