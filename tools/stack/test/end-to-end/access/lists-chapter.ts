import { randomUUID } from 'node:crypto'
import { waitFor } from '@pitboss/testing/wait-for'
import type { Test } from 'tap'
import { z } from 'zod'
import type { Said } from '../../fixtures/witness.ts'
import { type AccessWorld, okay } from './access-world.ts'
import { makeApprovals } from './make-approvals.ts'
import { reconcileNothing } from './reconcile-nothing.ts'

const document = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.looseObject({
        security: z.array(z.record(z.string(), z.unknown())),
        parameters: z.array(z.looseObject({ name: z.string(), in: z.string() })),
      }),
    ),
  ),
})
const rows = z.array(z.record(z.string(), z.unknown()))
const page = z.object({ data: rows, next_cursor: z.string().nullable() })

const since = '2026-01-01T00:00:00Z'
const player = 'somebody who is listed'
/**
 * Lists about a player who need not be known, or about a wallet that each account has: another account gets
 * its own, and a foreign cursor is refused there.
 */
const ofEachAccount = /[/]players[/]\{player_id\}[/]stops$|[/]wallets[/]\{environment\}[/]certifications$/
const dice = { target: '50.00', direction: 'over' }

/** Every list of the product, page by page: what its cursor alone leads to, and where it leads nowhere. */
export async function listsChapter(t: Test, world: AccessWorld): Promise<void> {
  const { send, mint, signIn, second, demo } = world
  const { paths } = document.parse(JSON.parse((await send('GET', '/v1/public/openapi.json')).text))
  const ids = await makeTwoOfEach(world)
  const boss = await signIn(second.dashboard)
  const theirs = await world.openSession(await mint(await world.createKey(boss)), { player_id: 'stranger' })
  const foreign: Record<string, string> = {
    'operator-api': await mint(await world.createKey(boss)),
    dashboard: boss,
    'game-launcher': theirs.playerToken,
  }
  const own: Record<string, string> = {
    'operator-api': await mint(demo.live),
    dashboard: await signIn(),
    'game-launcher': ids.playerToken,
  }
  const lists = Object.entries(paths).flatMap(([path, { get }]) => {
    const names = get?.parameters.filter((one) => one.in === 'query').map(({ name }) => name) ?? []
    const [audience = ''] = get?.security.flatMap((scheme) => Object.keys(scheme)) ?? []
    return names.includes('cursor') ? [{ path, names, audience }] : []
  })
  t.ok(lists.length >= 23, `${lists.length} lists`)

  for (const { path, names, audience } of lists) {
    await t.test(`${path}: the next page needs the cursor alone`, async (t) => {
      const ask = (query: Record<string, string>, token = own[audience]) => {
        const filled = path.replaceAll(/\{([a-z_]+)\}/g, (_all, name: string) => ids.path.get(name) ?? '')
        return send('GET', `${filled}?${new URLSearchParams({ limit: '1', ...query }).toString()}`, { token })
      }
      const environment = path.startsWith('/v1/dashboard/') && !ids.onlyInTest.has(path) ? 'LIVE' : 'TEST'
      const filters: Record<string, string> = {
        ...(names.includes('environment') ? { environment } : {}),
        ...(names.includes('player_id') ? { player_id: player } : {}),
        ...(names.includes('from') ? { from: since } : {}),
      }
      const first = await ask(filters)
      const cursor = cursorOf(first)
      const next = idsOf(await ask({ ...filters, cursor }))
      t.equal(next.length, 1, 'there is a next page')
      t.notSame(next, idsOf(first))
      t.strictSame(idsOf(await ask({ cursor })), next, 'the cursor alone')
      const [payload = '', mac = '', carried = ''] = cursor.split('.')
      const ofEarlierRelease = `${payload}.${mac}`
      t.strictSame(
        idsOf(await ask({ ...filters, cursor: ofEarlierRelease })),
        next,
        'as an earlier release made it, with its filters',
      )

      const refused = async (what: string, asked: Promise<Said>) =>
        t.match(await asked, { code: 'VALIDATION_ERROR', body: { details: [{ path: 'cursor' }] } }, what)
      const nobodys = await ask({ cursor }, foreign[audience])
      if (path.includes('{') && !ofEachAccount.test(path))
        t.equal(nobodys.status, 404, "what it belongs to is nobody else's")
      else await refused("another account's", Promise.resolve(nobodys))
      const altered = mac.startsWith('A') ? `B${mac.slice(1)}` : `A${mac.slice(1)}`
      await refused('damaged', ask({ cursor: [payload, altered, carried].join('.').replace(/\.$/, '') }))
      if (filters.from !== undefined || filters.player_id !== undefined)
        await refused('as an earlier release made it, alone', ask({ cursor: ofEarlierRelease }))
      for (const [name, value] of Object.entries(filters)) {
        const other = otherOf(name, value)
        await refused(`beside another ${name}`, ask({ ...filters, [name]: other, cursor }))
        if (path.includes('{')) continue
        const forged = Buffer.from(JSON.stringify({ ...filters, [name]: other })).toString('base64url')
        await refused(`with another ${name} in it`, ask({ cursor: `${ofEarlierRelease}.${forged}` }))
      }
    })
  }

  await t.test('a poll of events goes on in the window of its first page', async (t) => {
    const token = own['operator-api']
    const poll = (query: Record<string, string>) =>
      send('GET', `/v1/events?${new URLSearchParams(query).toString()}`, { token })
    const all = idsOf(await poll({ type: 'round.completed' }))
    t.ok(all.length >= 2)
    const first = await poll({ type: 'round.completed', limit: '1' })
    const rest = await poll({ cursor: cursorOf(first) })
    t.strictSame([...idsOf(first), ...idsOf(rest)], all, 'of that type alone')
    const none = await poll({ cursor: cursorOf(rest) })
    t.strictSame(idsOf(none), [])
    const { playerToken } = await world.openSession(String(token), { player_id: player })
    await play(world, playerToken)
    const later = await waitFor(async () => {
      const said = await poll({ cursor: cursorOf(none) })
      return idsOf(said).length > 0 ? said : null
    })
    t.match(later.body.data, [{ type: 'round.completed' }], 'an empty page leads on to what comes later')
  })
}

/** Two of everything that is listed, in LIVE where that can be, and the path parameters that lead to them. */
async function makeTwoOfEach(world: AccessWorld) {
  const { send, mint, signIn, demo } = world
  const owner = await signIn()
  const post = async (status: number, path: string, body: unknown, token = owner) =>
    okay(status, await send('POST', path, { token, body }))
  const listed = async (path: string, token = owner) => idsOf(await send('GET', path, { token }))
  const live = await mint(demo.live)
  const big = { currency: 'USD', amount: '0.01' }
  const low = okay(200, await send('GET', '/v1/dashboard/flag-rules/LIVE', { token: owner }))
  const rules = { token: owner, body: { ...low, big_win: [big] } }
  okay(200, await send('PUT', '/v1/dashboard/flag-rules/LIVE', rules))
  const grant = { player_id: player, game: 'dice', currency: 'USD', stake: '1.00', count: 1 }
  let playerToken = ''
  for (let one = 0; one < 2; one++) {
    const stop = `/v1/players/${encodeURIComponent(player)}/stop`
    await post(200, stop, { reason: 'SELF_EXCLUSION' }, live)
    await post(200, `${stop}/lift`, { reason: 'a mistake' }, live)
    const url = 'https://hooks.casino.example/pitboss'
    await post(201, '/v1/dashboard/webhooks', { url, environment: 'LIVE', events: ['round.completed'] })
    const opened = await world.openSession(live, { player_id: player })
    playerToken = opened.playerToken
    await play(world, playerToken)
    await post(201, '/v1/free-bets', grant, live)
    await world.createKey(owner, { environment: 'LIVE' })
    await post(201, '/v1/dashboard/brands', { name: `Brand ${randomUUID()}` })
    const view = { name: `View ${one}`, page: '/rounds', query: 'status=SETTLED' }
    await post(201, '/v1/dashboard/views', view)
    const person = { email: `${randomUUID()}@casino.example`, name: 'Ada', role: 'VIEWER' }
    await post(201, '/v1/dashboard/users', person)
    const replay = `/v1/dashboard/webhooks/${demo.receiver.webhook_id}/replay`
    await post(202, replay, { from: since, to: '2026-01-02T00:00:00Z' })
    await certify(world, owner, '/v1/dashboard/wallets/TEST', {})
    await reconcileNothing(world, owner, 'LIVE')
    await certify(world, owner, `/v1/dashboard/webhooks/${demo.receiver.webhook_id}`)
  }
  await makeApprovals(world, owner, 2)
  const events = '/v1/dashboard/events?environment=LIVE&type=round.completed'
  await waitFor(async () => (await listed(events)).length >= 2, { what: 'live events' })
  const deliveries = '/v1/dashboard/webhook-deliveries?environment=LIVE'
  await waitFor(async () => (await listed(deliveries)).length >= 2, {
    what: 'live deliveries',
  })
  const returns = '/v1/dashboard/returns?environment=LIVE'
  await waitFor(async () => (await listed(returns)).length >= 2, { what: 'live returns' })
  const logs = '/v1/dashboard/request-logs?environment=LIVE'
  await waitFor(async () => (await listed(logs)).length >= 2, { what: 'live requests' })
  const flags = `/v1/dashboard/flags?${new URLSearchParams({ environment: 'LIVE', player_id: player }).toString()}`
  await waitFor(
    async () => {
      await play(world, playerToken)
      return (await listed(flags)).length >= 2
    },
    { everyMs: 500, what: 'live flags' },
  )
  return {
    playerToken,
    path: new Map([
      ['webhook_id', demo.receiver.webhook_id],
      ['transaction_id', await callTwice(world, live)],
      ['player_id', encodeURIComponent(player)],
      ['game', 'dice'],
      ['environment', 'TEST'],
    ]),
    onlyInTest: new Set(
      ['replays', 'certifications'].map((list) => `/v1/dashboard/webhooks/{webhook_id}/${list}`),
    ),
  }
}

async function play({ send }: AccessWorld, token: string): Promise<void> {
  okay(201, await send('POST', '/v1/game/rounds', { token, body: { stake: '1.00', bet: dice } }))
}

/** Runs a certification to its end: one of each object at a time. */
async function certify({ send }: AccessWorld, token: string, of: string, body?: unknown): Promise<void> {
  const started = okay(202, await send('POST', `${of}/certify`, { token, body }))
  const one = `${of}/certifications/${String(started.certification_id)}`
  await waitFor(async () => okay(200, await send('GET', one, { token })).status === 'DONE', {
    timeoutMs: 90_000,
    everyMs: 500,
    what: 'the certification to end',
  })
}

/** A movement whose first wallet call failed. */
async function callTwice(world: AccessWorld, live: string): Promise<string> {
  const { send, demo } = world
  const twice = 'called twice'
  const rule = { operation: 'debit', player_id: twice, kind: 'http_error', http_status: 503, count: 1 }
  const faults = `${demo.live_wallet.url}/sandbox/faults`
  await fetch(faults, { method: 'PUT', body: JSON.stringify({ rules: [rule] }) })
  const { playerToken } = await world.openSession(live, { player_id: twice })
  await send('POST', '/v1/game/rounds', { token: playerToken, body: { stake: '1.00', bet: dice } })
  await fetch(faults, { method: 'DELETE' })
  const query = new URLSearchParams({ player_id: twice, type: 'BET' }).toString()
  const [id] = idsOf(await send('GET', `/v1/transactions?${query}`, { token: live }))
  const attempts = `/v1/transactions/${String(id)}/attempts`
  await waitFor(async () => idsOf(await send('GET', attempts, { token: live })).length > 1, {
    what: 'the second wallet call',
  })
  return String(id)
}

function otherOf(name: string, value: string): string {
  if (name === 'environment') return value === 'LIVE' ? 'TEST' : 'LIVE'
  return name === 'from' ? '2026-01-02T00:00:00Z' : 'somebody else'
}

function cursorOf(said: Said): string {
  const { next_cursor: cursor } = page.parse(okay(200, said))
  if (cursor === null) throw new Error(`there is only one page: ${said.text.slice(0, 300)}`)
  return cursor
}

/** What names each row of a page: its first field. */
function idsOf(said: Said): unknown[] {
  return page.parse(okay(200, said)).data.map((row) => Object.values(row)[0])
}
