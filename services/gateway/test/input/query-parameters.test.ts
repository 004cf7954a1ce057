import t from 'tap'
import { z } from 'zod'
import { exampleOf } from '../../src/openapi/example-of.ts'
import { toJsonSchema } from '../../src/openapi/to-json-schema.ts'
import { routeTable } from '../../src/routes/route-table.ts'
import { ask } from '../fixtures/ask.ts'
import { startWorld } from '../fixtures/start-world.ts'
import { routeRequest } from '../fixtures/route-request.ts'
import { filledPath } from '../fixtures/test-ids.ts'

const world = await startWorld(t)
const tokens = {
  'operator-api': await world.operatorToken(),
  dashboard: await world.userToken(),
  'game-launcher': await world.playerToken(),
}
const querySchema = z.object({
  properties: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
  required: z.array(z.string()).default([]),
})
/** What a list answers to a cursor depends on the list that it came from. */
const elsewhere = new Set(['cursor'])

/** What a text of its own form looks like. */
const usual = new Map([
  ['/v1/dashboard/stream kinds', 'events,requests'],
  ['/v1/dashboard/stream path', '/v1'],
])

function valueOf(name: string, schema: Record<string, unknown>): string {
  if (name === 'environment') return 'LIVE'
  // one of several forms: a number, or its text
  const [form = schema] = z.array(z.record(z.string(), z.unknown())).catch([]).parse(schema.anyOf)
  return String(name === 'status' && schema.enum === undefined ? '404' : exampleOf(form, name))
}

t.test('every query parameter of every route is taken', async (t) => {
  const tried = new Set<string>()
  for (const entry of routeTable) {
    const { method, path, access, shapes, anyQuery } = entry
    if (anyQuery) continue
    const audience = (['operator-api', 'dashboard', 'game-launcher'] as const).find(
      (one) => access?.[one] !== undefined,
    )
    const token = audience === undefined ? {} : { token: tokens[audience] }
    const { properties, required } = querySchema.parse(toJsonSchema(shapes.query, 'input'))
    const valuesOf = (names: readonly string[]) =>
      names.map((name) => [name, usual.get(`${path} ${name}`) ?? valueOf(name, properties[name] ?? {})])
    for (const name of Object.keys(properties).filter((one) => !elsewhere.has(one))) {
      const query = new URLSearchParams(
        Object.fromEntries(valuesOf([...new Set([...required, name])])),
      ).toString()
      const { options } = routeRequest(entry)
      const { status, text } = await ask(`${world.url}${filledPath(path)}?${query}`, { ...options, ...token })
      t.ok(status >= 200 && status < 300, `${method} ${path}?${query}: ${status} ${text.slice(0, 200)}`)
      tried.add(method)
    }
    if (Object.keys(properties).length > 0) tried.add(path)
  }
  for (const part of ['GET', 'POST', '/v1/dashboard/search', '/v1/dashboard/stream', '/v1/events/manifest'])
    t.ok(tried.has(part), part)
})
