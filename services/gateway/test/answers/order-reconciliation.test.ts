import t from 'tap'
import { ask } from '../fixtures/ask.ts'
import { startWorld } from '../fixtures/start-world.ts'

const world = await startWorld(t)
const token = await world.userToken()
const path = `${world.url}/v1/dashboard/reports/reconciliation`
const window = 'from=2026-11-19T05:30%2B05:30&to=2026-11-20t00:00:00z'
const order = (raw: string, type = 'application/x-ndjson', query = window) =>
  ask(`${path}?${query}`, { method: 'POST', token, raw, headers: { 'content-type': type } })
const row = (id: number) =>
  JSON.stringify({ transaction_id: `t-${id}`, type: 'BET', amount: '1.00', currency: 'EUR' })
const ledger = (count: number) => Array.from({ length: count }, (_, index) => row(index)).join('\n')

await t.test('a ledger of any length is handed on whole, in order, and ordered once', async (t) => {
  for (const count of [0, 1, 250, 251, 1000]) {
    const answer = await order(ledger(count))
    t.match(
      answer,
      { status: 202, json: { lines_total: count, from: '2026-11-19T00:00:00.000Z' } },
      `${count}`,
    )
    t.match(answer.text, /"reconciliation_id":"rcn_[0-9a-z]{26}"/)
  }
})

await t.test('CSV is taken, and lines that cannot be read are handed on as such', async (t) => {
  const csv = 'transaction_id,type,amount,currency\r\nt-1,BET,1.00,EUR\r\nt-2\r\n'
  t.match(await order(csv, 'text/csv'), { status: 202, json: { lines_total: 2 } })
})

await t.test('what is no ledger, and what is too long, is refused', async (t) => {
  t.match(await order('{}', 'application/json'), { status: 422, paths: ['content-type'] })
  t.match(await order('a,b\r\n', 'text/csv'), { status: 422, paths: ['body'] })
  t.match(await order('', undefined, 'from=2026-11-19T00:00:00Z'), { status: 422, paths: ['to'] })
  const many = await order(ledger(200_001))
  t.match(many, { status: 422, paths: ['body'] })
  t.match(many.text, /not have more than 200000 lines/)
})

await t.test('a machine may not order one here', async (t) => {
  const machine = await world.operatorToken()
  const headers = { 'content-type': 'application/x-ndjson' }
  const answer = await ask(`${path}?${window}`, { method: 'POST', token: machine, raw: '', headers })
  t.match(answer, { status: 403, code: 'INSUFFICIENT_SCOPE' })
})
