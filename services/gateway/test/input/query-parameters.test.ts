import t from 'tap'
import { z } from 'zod'
import { exampleOf } from '../../src/openapi/example-of.ts'
import { toJsonSchema } from '../../src/openapi/to-json-schema.ts'
import { routeTable } from '../../src/routes/route-table.ts'
import { ask } from '../fixtures/ask.ts'
import { startWorld } from '../fixtures/start-world.ts'
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

function valueOf(name: string, schema: Record<string, unknown>): string {
  if (name === 'environment') return 'LIVE'
  // one of several forms: a number, or its text
  const [form = schema] = z.array(z.record(z.string(), z.unknown())).catch([]).parse(schema.anyOf)
  return String(name === 'status' && schema.enum === undefined ? '404' : exampleOf(form, name))
}

t.test('every query parameter of every route that is forwarded is taken', async (t) => {
  let tried = 0
  for (const { method, path, access, shapes, action } of routeTable) {
    if (method !== 'GET' || action.kind !== 'forward') continue
    const audience = (['operator-api', 'dashboard', 'game-launcher'] as const).find(
      (one) => access?.[one] !== undefined,
    )
    const token = audience === undefined ? undefined : tokens[audience]
    const { properties, required } = querySchema.parse(toJsonSchema(shapes.query, 'input'))
    const valuesOf = (names: readonly string[]) =>
      names.map((name) => [name, valueOf(name, properties[name] ?? {})])
    for (const name of Object.keys(properties).filter((one) => !elsewhere.has(one))) {
      const query = new URLSearchParams(
        Object.fromEntries(valuesOf([...new Set([...required, name])])),
      ).toString()
      const { status, text } = await ask(
        `${world.url}${filledPath(path)}?${query}`,
        token === undefined ? {} : { token },
      )
      t.ok(status >= 200 && status < 300, `${path}?${query}: ${status} ${text.slice(0, 200)}`)
      tried += 1
    }
  }
  t.ok(tried >= 100, `${tried} parameters`)
})
