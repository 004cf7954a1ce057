import type { Test } from 'tap'
import { z } from 'zod'
import type { ClientsWorld } from './clients-world.ts'

/** What we answer can be sent back: the fields that the matching request takes, with their nulls. */
export async function answersSentBack(t: Test, world: ClientsWorld): Promise<void> {
  const { server, owner } = world
  const taken = takenBy(world.description)

  /** Sends what an answer has of a request's fields; `change` is what must differ, such as an id. */
  async function sendBack(
    route: string,
    path: string,
    answer: unknown,
    change: object = {},
  ): Promise<unknown> {
    const [method = ''] = route.split(' ')
    const fields = z.record(z.string(), z.unknown()).parse(taken(route, answer))
    const body = { ...fields, ...change }
    const said = path.startsWith('/dashboard')
      ? await owner(method, path.replace('/dashboard', ''), body)
      : await server(method, path, body)
    t.ok(
      said.status < 300,
      `${route} takes ${JSON.stringify(body)}: ${said.status} ${JSON.stringify(said.body)}`,
    )
    return said.body
  }

  const player = await world.openSession({ player_id: 'sent-back', game: 'dice', currency: 'USD' })
  const { session_id: sessionId } = player.session
  await sendBack('POST /v1/sessions', '/sessions', player.session)
  const { body: session } = await server('GET', `/sessions/${String(sessionId)}`)
  t.ok(Object.values(session).includes(null))
  await sendBack('POST /v1/sessions', '/sessions', session)
  const full = await world.openSession({
    ...{ player_id: 'sent-back', game: 'dice', currency: 'USD', language: 'pt_BR', country: 'gb' },
    ...{
      return_url: 'https://casino.example.com/a?b=c',
      metadata: { table: '' },
      limits: { min_stake: '1.00' },
    },
    ...{ jurisdiction: 'UK', reality_check_s: 600 },
  })
  await sendBack('POST /v1/sessions', '/sessions', full.session)
  const played = await player.call('POST', '/game/rounds', {
    stake: '1.00',
    bet: { target: '50.00', direction: 'over' },
  })
  t.match(await world.server('POST', '/public/verify', played.body), { body: { valid: true } })

  const grant = await sendBack('POST /v1/free-bets', '/free-bets', {
    ...{ player_id: 'sent-back', game: 'dice', currency: 'USD', stake: '1.00', count: 2 },
  })
  await sendBack('POST /v1/free-bets', '/free-bets', grant)
  await sendBack('POST /v1/dashboard/free-bets', '/dashboard/free-bets', grant)

  const bet = { type: 'BET', amount: '1.00', currency: 'USD', session_id: sessionId }
  const { body: stake } = await server('POST', '/transactions', { ...bet, transaction_id: 'sent-back-1' })
  await sendBack('POST /v1/transactions', '/transactions', stake, { transaction_id: 'sent-back-2' })

  const limits = { limits: [{ kind: 'loss', period: 'day', currency: 'USD', amount: '500.00' }] }
  await server('PUT', '/players/sent-back/limits', {
    limits: [...limits.limits, { kind: 'time', period: 'week', minutes: 600 }],
  })
  // A higher limit waits for its time, which the answer says.
  await server('PUT', '/players/sent-back/limits', { limits: [{ ...limits.limits[0], amount: '900.00' }] })
  const { body: standing } = await server('GET', '/players/sent-back/limits')
  await sendBack('PUT /v1/players/{player_id}/limits', '/players/sent-back/limits', standing)
  await sendBack(
    'PUT /v1/dashboard/players/{player_id}/limits',
    '/dashboard/players/sent-back/limits',
    standing,
  )

  const { body: stop } = await server('POST', '/players/sent-back-stopped/stop', { reason: 'asked for it' })
  t.equal(stop.until, null)
  await sendBack('POST /v1/players/{player_id}/stop', '/players/sent-back-other/stop', stop)
  const { body: until } = await server('POST', '/players/sent-back-until/stop', {
    reason: 'a rest',
    until: '2036-01-01T00:00:00+01:00',
  })
  await sendBack('POST /v1/players/{player_id}/stop', '/players/sent-back-third/stop', until)

  const { body: game } = await server('GET', '/games/dice')
  await sendBack('PATCH /v1/games/{slug}', '/games/dice', game)
  await sendBack('PATCH /v1/dashboard/games/{slug}', '/dashboard/games/dice', game)
  const { body: business } = await owner('GET', '/business')
  await sendBack('PATCH /v1/dashboard/business', '/dashboard/business', business)
  await sendBack('PATCH /v1/business', '/business', business)
  const { body: wallet } = await owner('GET', '/wallets/TEST')
  await sendBack('PUT /v1/dashboard/wallets/{environment}', '/dashboard/wallets/TEST', wallet)
  const { body: rules } = await owner('GET', '/flag-rules/TEST')
  await sendBack('PUT /v1/dashboard/flag-rules/{environment}', '/dashboard/flag-rules/TEST', rules)

  const endpoint = await sendBack('POST /v1/dashboard/webhooks', '/dashboard/webhooks', {
    ...{ url: 'https://casino.example.com/hooks?a=b%20c', environment: 'TEST', events: [] },
  })
  const { webhook_id: webhookId } = z.object({ webhook_id: z.string() }).parse(endpoint)
  await sendBack('POST /v1/dashboard/webhooks', '/dashboard/webhooks', endpoint)
  await sendBack('PATCH /v1/dashboard/webhooks/{webhook_id}', `/dashboard/webhooks/${webhookId}`, endpoint)
  const replay = await sendBack(
    'POST /v1/dashboard/webhooks/{webhook_id}/replay',
    `/dashboard/webhooks/${webhookId}/replay`,
    { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' },
  )
  await sendBack(
    'POST /v1/dashboard/webhooks/{webhook_id}/replay',
    `/dashboard/webhooks/${webhookId}/replay`,
    replay,
  )

  const key = await sendBack('POST /v1/dashboard/credentials', '/dashboard/credentials', {
    ...{ name: 'Sent back', environment: 'TEST' },
  })
  await sendBack('POST /v1/dashboard/credentials', '/dashboard/credentials', key)
  const { api_key: apiKey } = z.object({ api_key: z.string() }).parse(key)
  await sendBack('PATCH /v1/dashboard/credentials/{api_key}', `/dashboard/credentials/${apiKey}`, key)
  const brand = await sendBack('POST /v1/dashboard/brands', '/dashboard/brands', { name: 'Sent back' })
  await sendBack('POST /v1/dashboard/brands', '/dashboard/brands', brand, { name: 'Sent back again' })
  const view = await sendBack('POST /v1/dashboard/views', '/dashboard/views', {
    ...{ name: 'Sent back', page: '/rounds', query: 'status=FAILED' },
  })
  await sendBack('POST /v1/dashboard/views', '/dashboard/views', view, { name: 'Sent back again' })
  const person = await sendBack('POST /v1/dashboard/users', '/dashboard/users', {
    ...{ email: 'sent-back@example.com', name: 'Sent Back', role: 'VIEWER' },
  })
  await sendBack('POST /v1/dashboard/users', '/dashboard/users', person, { email: 'other@example.com' })
  const { user_id: userId } = z.object({ user_id: z.string() }).parse(person)
  await sendBack('PATCH /v1/dashboard/users/{user_id}', `/dashboard/users/${userId}`, person)

  const { body: job } = await owner('POST', '/wallets/TEST/certify', {})
  const jobPath = `/wallets/TEST/certifications/${String(job.certification_id)}/cancel`
  await owner('POST', jobPath)
  const again = await sendBack(
    'POST /v1/dashboard/wallets/{environment}/certify',
    '/dashboard/wallets/TEST/certify',
    job,
  )
  const { certification_id: id } = z.object({ certification_id: z.string() }).parse(again)
  await owner('POST', `/wallets/TEST/certifications/${id}/cancel`)
}

const node = z.looseObject({
  $ref: z.string().optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  items: z.unknown().optional(),
  const: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
})
const documentSchema = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), z.unknown())),
  components: z.looseObject({ schemas: z.record(z.string(), z.unknown()) }),
})
const operationSchema = z.looseObject({
  requestBody: z.looseObject({ content: z.record(z.string(), z.looseObject({ schema: z.unknown() })) }),
})

/** The part of an answer that the body of a route takes, as `POST /v1/sessions` names it. */
function takenBy(description: unknown): (route: string, answer: unknown) => unknown {
  const { paths, components } = documentSchema.parse(description)

  function pick(schema: unknown, value: unknown): unknown {
    const { $ref, anyOf, oneOf, properties, items } = node.parse(schema)
    if ($ref !== undefined) return pick(components.schemas[$ref.split('/').at(-1) ?? ''], value)
    const variants = anyOf ?? oneOf
    if (variants !== undefined) return pick(variants.find((variant) => isOf(variant, value)) ?? {}, value)
    if (Array.isArray(value)) return value.map((one) => pick(items ?? {}, one))
    if (typeof value !== 'object' || value === null || properties === undefined) return value
    const shared = Object.entries(value).filter(([name]) => name in properties)
    return Object.fromEntries(shared.map(([name, inner]) => [name, pick(properties[name], inner)]))
  }

  /** Whether the fields with fixed values, such as `kind`, are those of the variant. */
  function isOf(variant: unknown, value: unknown): boolean {
    const { properties = {} } = node.parse(variant)
    const given = new Map(Object.entries(typeof value === 'object' && value !== null ? value : {}))
    return Object.entries(properties).every(([name, schema]) => {
      const { const: one, enum: several = one === undefined ? undefined : [one] } = node.parse(schema)
      return several === undefined || !given.has(name) || several.includes(given.get(name))
    })
  }

  return (route, answer) => {
    const [method = '', path = ''] = route.split(' ')
    const { requestBody } = operationSchema.parse(paths[path]?.[method.toLowerCase()])
    return pick(requestBody.content['application/json']?.schema, answer)
  }
}
