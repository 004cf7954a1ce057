import { ServiceError } from '@pitboss/errors/service-error'
import { pino } from 'pino'
import t from 'tap'
import { createRequestLog } from '../../src/http/request-log.ts'
import { ids } from '../fixtures/test-ids.ts'

type Row = Parameters<ReturnType<typeof createRequestLog>['add']>[0]

const logger = pino({ level: 'silent' })

const row = (operatorId: string, more: Partial<Row> = {}): Row => ({
  operatorId,
  environment: 'SANDBOX',
  request_id: 'req_1',
  at: '2026-11-20T09:30:00.000Z',
  method: 'GET',
  path: '/v1/games',
  status: 200,
  code: null,
  latency_ms: 1,
  api_key: ids.testKey,
  client_address: '192.0.2.1',
  ...more,
})

/** An auth service that takes rows, or none while `away`. */
function auth() {
  const written: Row[] = []
  const calls: number[] = []
  const state = { away: false }
  const log = createRequestLog({
    logger,
    bus: {
      async call(call, request) {
        if (state.away) throw new ServiceError('SERVICE_UNAVAILABLE')
        const rows: Row[] = Object.assign({ rows: [] }, request).rows
        calls.push(rows.length)
        written.push(...rows)
        return call.reply.parse({ written: rows.length })
      },
    },
  })
  const of = (operatorId: string) => written.filter((one) => one.operatorId === operatorId)
  return { log, state, written, calls, of }
}

const refused = { status: 429, code: 'RATE_LIMITED' }

await t.test('the refusals of a key leave 30 rows a minute, what was served is all there', async (t) => {
  const { log, of, calls } = auth()
  for (let count = 0; count < 163; count++) log.add(row(ids.operator, refused))
  for (let count = 0; count < 700; count++) log.add(row(ids.operator))
  for (let count = 0; count < 5; count++) log.add(row(ids.operator, { ...refused, api_key: ids.liveKey }))
  for (let count = 0; count < 5; count++)
    log.add(row(ids.operator, { status: 422, code: 'VALIDATION_ERROR' }))
  await log.stop()
  const rows = of(ids.operator)
  t.equal(rows.filter(({ code, api_key }) => code !== null && api_key === ids.testKey).length, 35)
  t.equal(rows.filter(({ api_key }) => api_key === ids.liveKey).length, 5)
  t.equal(rows.filter(({ status }) => status === 200).length, 700)
  t.ok(calls.every((count) => count <= 500))
})

await t.test('a noisy account pushes out its own rows alone', async (t) => {
  const { log, of } = auth()
  for (let count = 0; count < 100; count++) log.add(row(ids.otherOperator, { request_id: `b-${count}` }))
  for (let count = 0; count < 11_000; count++) log.add(row(ids.operator, { request_id: `a-${count}` }))
  await log.stop()
  t.equal(of(ids.otherOperator).length, 100)
  const noisy = of(ids.operator)
  t.ok(noisy.length >= 2500 && noisy.length < 3000, `${noisy.length} rows`)
  t.equal(noisy.at(-1)?.request_id, 'a-10999', 'the newest are kept')
})

await t.test(
  'of many accounts the noisiest loses rows first, and nothing is lost while auth is away',
  async (t) => {
    const { log, of, state } = auth()
    const account = (index: number) => `0193a5c4-9d3e-7a2b-8c1d-4e5f607182${10 + index}`
    for (let index = 0; index < 6; index++) {
      for (let count = 0; count < 2000; count++) log.add(row(account(index)))
    }
    for (let count = 0; count < 300; count++) log.add(row(ids.otherOperator))
    state.away = true
    await log.stop()
    state.away = false
    await log.stop()
    t.equal(of(ids.otherOperator).length, 300)
    const left = Array.from({ length: 6 }, (_, index) => of(account(index)).length)
    const total = left.reduce((sum, count) => sum + count, 300)
    t.ok(total >= 9900 && total <= 10_100, `${total} rows`)
    t.ok(Math.min(...left) > 1500, left.join(', '))
  },
)
