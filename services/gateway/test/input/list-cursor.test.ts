import t from 'tap'
import { z } from 'zod'
import { exampleOf } from '../../src/openapi/example-of.ts'
import { toJsonSchema } from '../../src/openapi/to-json-schema.ts'
import type { RouteEntry } from '../../src/routes/route-entry.ts'
import { routeTable } from '../../src/routes/route-table.ts'
import { ask } from '../fixtures/ask.ts'
import { startWorld } from '../fixtures/start-world.ts'
import { filledPath, ids } from '../fixtures/test-ids.ts'

const world = await startWorld(t)
const { url } = world
const tokens = {
  'operator-api': await world.operatorToken(),
  dashboard: await world.userToken(),
  'game-launcher': await world.playerToken(),
}

/** The form of a service's own cursor, as every release has made it. */
const ofService = 'WyJrMSIsInJuZF8wMWpkM3Y4eDVxN3IybTRuNnA4czB0MXczeSJd.q80GAYnfOQ7RUZrW2ywyBQ'
const querySchema = z.object({ properties: z.record(z.string(), z.record(z.string(), z.unknown())) })
const page = z.object({ next_cursor: z.string() })

type List = {
  entry: RouteEntry
  subject: string
  path: string
  token: string
  filters: Record<string, string>
}

/** Every list that the gateway has, with a value for each of its filters. */
const lists = routeTable.flatMap((entry): List[] => {
  const { properties = {} } = querySchema.partial().parse(toJsonSchema(entry.shapes.query, 'input'))
  if (properties.cursor === undefined || entry.action.kind !== 'forward') return []
  const audience = (['operator-api', 'dashboard', 'game-launcher'] as const).find(
    (one) => entry.access?.[one] !== undefined,
  )
  if (audience === undefined) throw new Error(`${entry.path} is open to nobody`)
  const filters = Object.entries(properties)
    .filter(([name]) => name !== 'limit' && name !== 'cursor')
    .map(([name, schema]) => [name, filterValue(name, schema)])
  const { subject } = entry.action.call
  const { path } = entry
  return [
    { entry, subject, path: filledPath(path), token: tokens[audience], filters: Object.fromEntries(filters) },
  ]
})
for (const { subject } of lists)
  world.answers.set(subject, () => ({ status: 200, body: { data: [], next_cursor: ofService } }))

function filterValue(name: string, schema: Record<string, unknown>): string {
  if (name === 'environment') return 'LIVE'
  // The status of a request is a text of digits.
  return name === 'status' && schema.enum === undefined ? '404' : String(exampleOf(schema, name))
}

const get = ({ path, token }: List, query: Record<string, string>) =>
  ask(`${url}${path}?${new URLSearchParams(query).toString()}`, { token })
const listOf = (path: string): List => {
  const found = lists.find(({ entry }) => entry.path === path)
  if (found === undefined) throw new Error(`there is no list ${path}`)
  return found
}
/** A good answer's cursor. */
const cursorOf = async (list: List, query: Record<string, string>) =>
  page.parse((await get(list, query)).json).next_cursor
/** What the service was asked last. */
const asked = () => {
  const request = world.forwarded.at(-1)?.request
  return { query: request?.query, scope: request?.caller.scope, either: request?.caller.eitherEnvironment }
}

await t.test('a cursor alone goes on with the filters of its list, every one of them', async (t) => {
  t.ok(lists.length >= 23, `${lists.length} lists`)
  for (const list of lists) {
    const { entry, filters } = list
    const cursor = await cursorOf(list, { ...filters, limit: '7' })
    const first = asked()
    t.match(first.query, { ...filters, limit: 7 }, entry.path)
    const alone = await get(list, { cursor })
    t.equal(alone.status, 200, `${entry.path}: ${alone.text}`)
    t.strictSame(asked(), { ...first, query: { ...filters, limit: 50, cursor: ofService } }, entry.path)
    t.equal(page.parse(alone.json).next_cursor, cursor, `${entry.path}: so does the cursor after it`)
    for (const again of [filters, Object.fromEntries(Object.entries(filters).slice(1))]) {
      t.equal(
        (await get(list, { ...again, cursor, limit: '3' })).status,
        200,
        'equal filters may be sent again',
      )
      t.strictSame(asked(), { ...first, query: { ...filters, limit: 3, cursor: ofService } }, entry.path)
    }
  }
})

await t.test('a list in LIVE goes on in LIVE, one without an environment in TEST', async (t) => {
  const list = listOf('/v1/dashboard/rounds')
  for (const [query, environment] of [
    [{ environment: 'LIVE' }, 'LIVE'],
    [{ environment: 'TEST' }, 'SANDBOX'],
    [{}, 'SANDBOX'],
  ] as const) {
    await get(list, { cursor: await cursorOf(list, query) })
    t.equal(asked().scope?.environment, environment, JSON.stringify(query))
  }
})

await t.test('a list without filters has the cursor of its service', async (t) => {
  for (const list of lists) t.equal(await cursorOf(list, { limit: '1' }), ofService, list.path)
})

await t.test('a cursor of an earlier release goes to the service as it is, with what was sent', async (t) => {
  for (const list of lists) {
    const answer = await get(list, { ...list.filters, cursor: ofService })
    t.equal(answer.status, 200, `${list.path}: ${answer.text}`)
    t.strictSame(asked().query, { ...list.filters, limit: 50, cursor: ofService }, list.path)
  }
})

await t.test(
  'other filters than the cursor carries, or none that a list knows, are refused at cursor',
  async (t) => {
    const rounds = listOf('/v1/rounds')
    const refused = async (list: List, query: Record<string, string>, what: string) => {
      const before = world.forwarded.length
      t.match(await get(list, query), { status: 422, code: 'VALIDATION_ERROR', paths: ['cursor'] }, what)
      t.equal(world.forwarded.length, before, `${what}: no service is asked`)
    }
    const cursor = await cursorOf(rounds, { player_id: 'ann', status: 'SETTLED' })
    await refused(rounds, { cursor, player_id: 'bob' }, 'another player')
    await refused(rounds, { cursor, status: 'OPEN', player_id: 'ann' }, 'another status')
    await refused(rounds, { cursor, game: 'dice' }, 'a filter that the list did not have')
    const other = await get(rounds, { cursor, game: 'dice' })
    t.match(other.text, 'belongs to a list with another game: leave game out, or begin without a cursor')
    await refused(listOf('/v1/events'), { cursor }, 'a list without such filters')
    await refused(listOf('/v1/sessions'), { cursor }, 'a list in which the status is none')
    const live = await cursorOf(listOf('/v1/dashboard/rounds'), { environment: 'LIVE' })
    await refused(
      listOf('/v1/dashboard/rounds'),
      { cursor: live, environment: 'TEST' },
      'another environment',
    )
    await refused(rounds, { cursor: live }, 'a key, whose token has the environment')

    const carried = (value: unknown) =>
      `${ofService}.${Buffer.from(JSON.stringify(value)).toString('base64url')}`
    for (const value of [
      null,
      [],
      'x',
      {},
      { status: 1 },
      { status: null },
      { status: 'NONE' },
      { colour: 'red' },
      { limit: '200' },
      { cursor: ofService },
      { from: '2026-11-21T00:00:00Z', to: '2026-11-20T00:00:00Z' },
      JSON.parse('{"__proto__":"x"}'),
      { constructor: 'x' },
    ]) {
      await refused(rounds, { cursor: carried(value) }, JSON.stringify(value))
    }
    for (const bad of [
      `${cursor}x`,
      `${cursor}=`,
      `${cursor}.x`,
      `${cursor}.`,
      `${ofService}.`,
      `${ofService}.e30`,
      `${ofService}.${'A'.repeat(40)}`,
      cursor.toUpperCase(),
      `${ofService}.${Buffer.from('{"status":"OPEN","status":"SETTLED"}').toString('base64url')}`,
      `${ofService}.${Buffer.from('{ "status":"OPEN"}').toString('base64url')}`,
      `${ofService}.${Buffer.from([0xff, 0xfe]).toString('base64url')}`,
      'x'.repeat(2049),
    ]) {
      await refused(rounds, { cursor: bad }, bad.slice(-60))
    }
  },
)

await t.test('the longest filters still make a cursor that is taken', async (t) => {
  const list = listOf('/v1/dashboard/transactions')
  const instant = (start: string) => `${start}.${'0'.repeat(43)}Z`
  for (const player_id of ['p'.repeat(128), '玩'.repeat(128), '😀'.repeat(128), '\u0001'.repeat(128)]) {
    const filters = {
      environment: 'LIVE',
      player_id,
      round_id: ids.round,
      session_id: ids.session,
      type: 'ROLLBACK',
      status: 'ROLLED_BACK',
      from: instant('2026-11-19T00:00:00'),
      to: instant('2026-11-20T00:00:00'),
    }
    const cursor = await cursorOf(list, filters)
    t.match(cursor, /^[A-Za-z0-9_.-]{1,2048}$/)
    t.equal((await get(list, { cursor })).status, 200, `${cursor.length} characters`)
    const window = { from: '2026-11-19T00:00:00.000Z', to: '2026-11-20T00:00:00.000Z' }
    t.strictSame(asked().query, { ...filters, ...window, limit: 50, cursor: ofService })
    const spelled = { cursor, from: '2026-11-19T01:00:00+01:00' }
    t.equal((await get(list, spelled)).status, 200, 'the same time in another spelling is the same filter')
  }
  const endless = await get(list, { from: instant('2026-11-19T00:00:00').replace('Z', '0Z') })
  t.match(endless, { status: 422, paths: ['from'] }, 'an instant of more than 64 characters is none')
})
