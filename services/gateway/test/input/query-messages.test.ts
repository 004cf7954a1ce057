import t from 'tap'
import { z } from 'zod'
import { eventType } from '@pitboss/contracts/objects/event'
import { validateQuery } from '../../src/input/list-cursor.ts'
import { routeTable } from '../../src/routes/route-table.ts'
import { jargon } from '../fixtures/jargon.ts'

/** Nothing that any filter takes: wrong characters, too long, empty. */
const wrong = ['abc!', 'é'.repeat(3_000), '', '600', '-1', ',']

t.test('what is wrong with a query is said in words, never as a pattern', (t) => {
  const told = new Map<string, string>()
  let refused = 0
  for (const { method, path, shapes } of routeTable) {
    if (!(shapes.query instanceof z.ZodObject)) continue
    for (const field of Object.keys(shapes.query.shape)) {
      for (const value of wrong) {
        const part = validateQuery(shapes.query, { [field]: value })
        if (part.ok) continue
        const own = part.details.filter((detail) => detail.path === field)
        refused += own.length
        for (const { message } of own) told.set(message, `${method} ${path}?${field}=${value.slice(0, 8)}`)
      }
    }
  }
  for (const [message, where] of told) t.notMatch(message, jargon, where)
  t.ok(refused > 100, `${refused} refusals`)
  t.end()
})

t.test('a filter by status says which it takes', (t) => {
  const entry = routeTable.find(({ path }) => path === '/v1/dashboard/request-logs')
  if (entry?.shapes.query == null) throw new Error('the route is gone')
  t.match(validateQuery(entry.shapes.query, { status: 'abc' }), {
    ok: false,
    details: [{ path: 'status', message: 'must be an HTTP status from 100 to 599' }],
  })
  t.end()
})

t.test('a filter by the type of an event names every type that it takes', (t) => {
  for (const path of ['/v1/webhook-deliveries', '/v1/dashboard/webhook-deliveries']) {
    const entry = routeTable.find((entry) => entry.method === 'GET' && entry.path === path)
    if (entry?.shapes.query == null) throw new Error('the route is gone')
    const types = [...eventType.options, 'webhook.test']
    t.match(validateQuery(entry.shapes.query, { event_type: 'abc' }), {
      ok: false,
      details: [{ path: 'event_type', message: `must be one of ${types.join(', ')}` }],
    })
    for (const type of types) t.match(validateQuery(entry.shapes.query, { event_type: type }), { ok: true })
  }
  t.end()
})
