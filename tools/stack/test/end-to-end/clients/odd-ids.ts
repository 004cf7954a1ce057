import fc from 'fast-check'
import type { Test } from 'tap'
import { z } from 'zod'
import type { ClientsWorld } from './clients-world.ts'

/** Texts that some layer may take for something of its own. */
const marked = [
  ...['a/b', 'a%2Fb', '%00', '%', '..%2f..', 'a/../b', '...', '?x=1', '#', 'a&b=c', 'a+b', 'a b', 'null'],
  ...['__proto__', 'constructor', '-1', '0', '007', '1e5', '{player_id}', '*', '>', 'a.b.>', '$where'],
  ...['"', "'", '\\', '<script>', 'a;b', 'a,b', ':', '@', '=1+1', '[]', '|', '^', '`', '~', 'é', 'ß', 'İ'],
  ...['漢字', 'שלום', '🎲', '👩\u200d🚀', 'a\u00a0b', 'a\ufe0f', '🎲'.repeat(128), 'x'.repeat(128)],
]
const odd = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...marked) },
  fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
    .map((text) => text.normalize('NFC'))
    .filter(
      (text) =>
        !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|^\s|\s$|^\.{1,2}$/u.test(text) && Array.from(text).length <= 128,
    ),
)
const transactionIds = fc.stringMatching(/^[A-Za-z0-9_.:-]{1,128}$/).filter((id) => id !== '.' && id !== '..')

const runs = { numRuns: 40, endOnFailure: true }

/**
 * What can be created can be acted on: every route that takes the id of an object takes any id it may have.
 */
export async function oddIds(t: Test, world: ClientsWorld): Promise<void> {
  const { server, owner } = world

  async function works(who: typeof server, method: string, path: string, body?: unknown) {
    const said = await who(method, path, body)
    if (said.status >= 300) throw new Error(`${method} ${path}: ${said.status} ${JSON.stringify(said.body)}`)
    return said.body
  }
  const rows = (body: unknown) => z.object({ data: z.array(z.unknown()) }).parse(body).data.length

  let named = 0
  /** An id that no run had before. */
  const fresh = (text: string) => {
    const tail = `~${(named += 1)}`
    return (
      Array.from(text)
        .slice(0, 128 - tail.length)
        .join('') + tail
    )
  }

  await t.test('players', async () => {
    const property = fc.asyncProperty(odd, async (text) => {
      const playerId =
        named % 2 === 0 ? fresh(text) : `${(named += 1)}~${Array.from(text).slice(0, 120).join('')}`
      const id = encodeURIComponent(playerId)
      const player = await world.openSession({ player_id: playerId, game: 'dice', currency: 'USD' })
      const bet = { stake: '1.00', bet: { target: '50.00', direction: 'over' } }
      const { status } = await player.call('POST', '/game/rounds', bet)
      if (status !== 201) throw new Error(`${playerId} plays: ${status}`)
      const ask = { reason: 'asked' }
      const limits = { limits: [{ kind: 'stake', period: 'day', currency: 'USD', amount: '9.00' }] }
      const grant = { player_id: playerId, game: 'dice', currency: 'USD', stake: '1.00', count: 1 }
      await works(server, 'POST', '/free-bets', grant)
      for (const list of ['sessions', 'rounds', 'transactions', 'free-bets']) {
        if (rows(await works(server, 'GET', `/${list}?player_id=${id}`)) === 0)
          throw new Error(`no ${list} of ${playerId}`)
        if (rows(await works(owner, 'GET', `/${list}?player_id=${id}`)) === 0)
          throw new Error(`no ${list} of ${playerId}`)
      }
      await works(owner, 'GET', `/flags?player_id=${id}`)
      if (rows(await works(owner, 'GET', `/search?id=${id}`)) === 0)
        throw new Error(`${playerId} is not found`)
      await works(owner, 'GET', `/players/${id}`)
      await works(owner, 'GET', `/players/${id}/fairness/dice`)
      for (const [who, path] of [
        [server, `/players/${id}`],
        [owner, `/players/${id}`],
      ] as const) {
        await works(who, 'PUT', `${path}/limits`, limits)
        await works(who, 'GET', `${path}/limits`)
        await works(who, 'POST', `${path}/stop`, ask)
        await works(who, 'GET', `${path}/stops`)
        await works(who, 'POST', `${path}/stop/lift`, ask)
      }
    })
    await fc.assert(property, runs)
  })

  await t.test('movements', async () => {
    const player = await world.openSession({ player_id: 'odd-movements', game: 'mines', currency: 'USD' })
    const known = new Set<string>()
    const property = fc.asyncProperty(transactionIds, async (transactionId) => {
      if (known.has(transactionId)) return
      known.add(transactionId)
      const stake = { type: 'BET', session_id: player.session.session_id, amount: '1.00', currency: 'USD' }
      await works(server, 'POST', '/transactions', { ...stake, transaction_id: transactionId })
      for (const who of [server, owner]) {
        await works(who, 'GET', `/transactions/${transactionId}`)
        await works(who, 'GET', `/transactions/${encodeURIComponent(transactionId)}/attempts`)
      }
      if (rows(await works(owner, 'GET', `/search?id=${transactionId}`)) === 0)
        throw new Error(`${transactionId} is not found`)
      const back = { type: 'ROLLBACK', reference_transaction_id: transactionId }
      await works(server, 'POST', '/transactions', { ...back, transaction_id: `back-${known.size}` })
    })
    await fc.assert(property, runs)
  })

  await t.test('keys, brands, views, endpoints and people by their names', async () => {
    const id = (body: unknown, field: string) => z.record(z.string(), z.unknown()).parse(body)[field]
    const property = fc.asyncProperty(odd, async (text) => {
      const name = fresh(text).slice(0, 60).trim()
      const key = await works(owner, 'POST', '/credentials', { name, environment: 'TEST' })
      const keyPath = `/credentials/${String(id(key, 'api_key'))}`
      await works(owner, 'PATCH', keyPath, { name: `${name}!` })
      await works(owner, 'GET', `/audit?object=${String(id(key, 'api_key'))}`)
      await works(owner, 'DELETE', keyPath)
      const brand = await works(owner, 'POST', '/brands', { name })
      const brandId = String(id(brand, 'brand_id'))
      await world.openSession({ player_id: 'odd-brand', game: 'dice', currency: 'USD', brand: brandId })
      const query = `player_id=${encodeURIComponent(text)}`
      const view = await works(owner, 'POST', '/views', { name, page: '/rounds', query })
      await works(owner, 'DELETE', `/views/${String(id(view, 'view_id'))}`)
      const url = `https://casino.example.com/hooks?q=${encodeURIComponent(text)}`
      const endpoint = await works(owner, 'POST', '/webhooks', {
        url,
        environment: 'TEST',
        description: name,
      })
      const endpointPath = `/webhooks/${String(id(endpoint, 'webhook_id'))}`
      await works(owner, 'PATCH', endpointPath, { description: `${name}!` })
      await works(owner, 'POST', `${endpointPath}/pause`)
      await works(owner, 'DELETE', endpointPath)
      const person = { email: `odd-${named}@example.com`, name, role: 'VIEWER' }
      const { user_id: userId } = z
        .looseObject({ user_id: z.string() })
        .parse(await works(owner, 'POST', '/users', person))
      await works(owner, 'PATCH', `/users/${userId}`, { role: 'SUPPORT' })
      await works(owner, 'DELETE', `/users/${userId}`)
    })
    await fc.assert(property, { ...runs, numRuns: 20 })
  })
}
