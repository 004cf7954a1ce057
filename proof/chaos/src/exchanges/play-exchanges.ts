import type { DemoFile } from '@pitboss/stack/demo-file'
import { z } from 'zod'
import { waitFor } from '@pitboss/testing/wait-for'
import { type Shape, shapeOf } from './shape.ts'

/** A request to the public interface and what was answered, without ids, secrets and other values. */
export type Exchange = {
  readonly name: string
  /** Method and template of the path. */
  readonly request: string
  /** Body as it was sent; null for none. Secrets and ids are left out. */
  readonly body: unknown
  readonly status: number
  /** `code` and `retryable` of a refusal; null for a success. */
  readonly refusal: { readonly code: string; readonly retryable: boolean } | null
  readonly answer: Shape
}

type Ask = {
  path?: Readonly<Record<string, string>>
  query?: string
  token?: string
  body?: unknown
  /** The body as it is kept. */
  shown?: unknown
}

const refusalSchema = z.looseObject({ code: z.string(), retryable: z.boolean() })
const eventsWithinMs = 30_000

/**
 * Plays the same story on any build: an operator's server, a player of dice and mines, a person at the
 * dashboard, and what they do wrong. Only fields and routes of the first release are used.
 * @throws Error when an answer lacks what the story needs to go on
 */
export async function playExchanges(demo: DemoFile): Promise<Exchange[]> {
  const exchanges: Exchange[] = []
  async function ask(name: string, request: string, given: Ask = {}): Promise<Record<string, unknown>> {
    const { path = {}, query = '', token, body, shown = body ?? null } = given
    const [method = '', template = ''] = request.split(' ')
    const place = template.replaceAll(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(path[key] ?? ''))
    const response = await fetch(`${demo.base_url}${place}${query}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const answer = z.record(z.string(), z.unknown()).parse(text === '' ? {} : JSON.parse(text))
    const refused = refusalSchema.safeParse(answer)
    const refusal =
      response.ok || !refused.success ? null : { code: refused.data.code, retryable: refused.data.retryable }
    const asked = query === '' ? request : `${request}${query.replaceAll(/=[^&]*/g, '=')}`
    exchanges.push({
      name,
      request: asked,
      body: shown,
      status: response.status,
      refusal,
      answer: shapeOf(answer),
    })
    return answer
  }
  const idOf = (answer: Record<string, unknown>, field: string) => {
    const id = answer[field]
    if (typeof id !== 'string') throw new Error(`no ${field} in ${JSON.stringify(answer)}`)
    return id
  }

  const minted = await ask('a token', 'POST /v1/auth/token', { body: demo.test, shown: 'the key pair' })
  const token = idOf(minted, 'access_token')
  await ask('a token for a wrong secret', 'POST /v1/auth/token', {
    ...{ body: { ...demo.test, api_secret: 'wrong' }, shown: 'the key and a wrong secret' },
  })
  await ask('a request without a token', 'GET /v1/games')
  await ask('the account', 'GET /v1/business', { token })
  await ask('the games', 'GET /v1/games', { token })
  await ask('a game', 'GET /v1/games/{slug}', { token, path: { slug: 'dice' } })
  await ask('an unknown game', 'GET /v1/games/{slug}', { token, path: { slug: 'chess' } })

  const open = async (game: string) => {
    const body = { player_id: 'of-the-exchanges', game, currency: 'USD' }
    const session = await ask(`a session of ${game}`, 'POST /v1/sessions', { token, body })
    const player = new URL(idOf(session, 'launch_url')).hash.replace('#token=', '')
    return { sessionId: idOf(session, 'session_id'), player }
  }
  const dice = await open('dice')
  const mines = await open('mines')
  await ask('a session without a player', 'POST /v1/sessions', {
    token,
    body: { game: 'dice', currency: 'USD' },
  })
  await ask('the session read', 'GET /v1/sessions/{session_id}', {
    token,
    path: { session_id: dice.sessionId },
  })
  await ask('the player reads it', 'GET /v1/game/session', { token: dice.player })
  await ask('the commitment', 'GET /v1/game/fairness', { token: dice.player })
  const bet = { target: '50.00', direction: 'over' }
  const played = await ask('a round of dice', 'POST /v1/game/rounds', {
    token: dice.player,
    body: { stake: '1.00', bet },
  })
  const roundId = idOf(played, 'round_id')
  await ask('a stake that is no amount', 'POST /v1/game/rounds', {
    token: dice.player,
    body: { stake: '1,00', bet },
  })
  await ask('a stake beyond the limit', 'POST /v1/game/rounds', {
    ...{ token: dice.player, body: { stake: '900000000.00', bet } },
  })
  await ask('the player reads the round', 'GET /v1/game/rounds/{round_id}', {
    ...{ token: dice.player, path: { round_id: roundId } },
  })
  await ask('the player lists rounds', 'GET /v1/game/rounds', { token: dice.player })
  const opened = await ask('a round of mines', 'POST /v1/game/rounds', {
    ...{ token: mines.player, body: { stake: '1.00', bet: { mines: 1 } } },
  })
  const minesId = idOf(opened, 'round_id')
  const ofMines = { token: mines.player, path: { round_id: minesId } }
  await ask('a second round beside it', 'POST /v1/game/rounds', {
    ...{ token: mines.player, body: { stake: '1.00', bet: { mines: 1 } } },
  })
  await ask('a tile outside the field', 'POST /v1/game/rounds/{round_id}/reveal', {
    ...ofMines,
    body: { tile: 99 },
  })

  const ended = async () => {
    const answer = await fetch(`${demo.base_url}/v1/rounds/${roundId}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    return JSON.parse(await answer.text()).status === 'SETTLED'
  }
  await waitFor(ended, { timeoutMs: eventsWithinMs, what: 'the round of dice to be over' })
  await ask('the round read', 'GET /v1/rounds/{round_id}', { token, path: { round_id: roundId } })
  await ask('an unknown round', 'GET /v1/rounds/{round_id}', { token, path: { round_id: 'rnd_unknown' } })
  await ask('rounds', 'GET /v1/rounds', { token, query: '?limit=5' })
  await ask('an unknown filter', 'GET /v1/rounds', { token, query: '?colour=red' })
  const listed = await ask('transactions', 'GET /v1/transactions', { token, query: `?round_id=${roundId}` })
  const [transaction] = z.array(z.looseObject({ transaction_id: z.string() })).parse(listed.data)
  if (transaction === undefined) throw new Error('the round has no transaction')
  const ofTransaction = { token, path: { transaction_id: transaction.transaction_id } }
  await ask('a transaction', 'GET /v1/transactions/{transaction_id}', ofTransaction)
  await ask('its wallet calls', 'GET /v1/transactions/{transaction_id}/attempts', ofTransaction)
  await ask('sessions', 'GET /v1/sessions', { token, query: '?limit=5' })

  const deliveredOne = async () => {
    const answer = await fetch(`${demo.base_url}/v1/webhook-deliveries?status=DELIVERED`, {
      headers: { authorization: `Bearer ${token}` },
    })
    return z.looseObject({ data: z.array(z.unknown()) }).parse(await answer.json()).data.length >= 5
  }
  await waitFor(deliveredOne, { timeoutMs: eventsWithinMs, what: 'five events to be delivered' })
  const events = await ask('events', 'GET /v1/events', { token, query: '?limit=20' })
  const [event] = z.array(z.looseObject({ id: z.string() })).parse(events.data)
  await ask('an event', 'GET /v1/events/{event_id}', { token, path: { event_id: event?.id ?? '' } })
  await ask('deliveries', 'GET /v1/webhook-deliveries', { token, query: '?status=DELIVERED' })
  await ask('free bets', 'GET /v1/free-bets', { token })

  const { email, password } = demo.dashboard
  const login = await ask('a sign-in', 'POST /v1/dashboard/login', {
    body: { email, password },
    shown: 'address and password',
  })
  await ask('a sign-in with a wrong password', 'POST /v1/dashboard/login', {
    ...{ body: { email, password: 'wrong' }, shown: 'the address and a wrong password' },
  })
  const person = idOf(login, 'access_token')
  for (const [name, request] of [
    ['the person', 'GET /v1/dashboard/me'],
    ['people', 'GET /v1/dashboard/users'],
    ['key pairs', 'GET /v1/dashboard/credentials'],
    ['endpoints', 'GET /v1/dashboard/webhooks'],
    ['games at the dashboard', 'GET /v1/dashboard/games'],
    ['rounds at the dashboard', 'GET /v1/dashboard/rounds'],
    ['sessions at the dashboard', 'GET /v1/dashboard/sessions'],
    ['transactions at the dashboard', 'GET /v1/dashboard/transactions'],
    ['events at the dashboard', 'GET /v1/dashboard/events'],
    ['deliveries at the dashboard', 'GET /v1/dashboard/webhook-deliveries'],
    ['requests at the dashboard', 'GET /v1/dashboard/request-logs'],
  ] as const)
    await ask(name, request, {
      token: person,
      ...(request.endsWith('users') || request.endsWith('me') ? {} : { query: '?environment=TEST' }),
    })
  await ask('a wallet', 'GET /v1/dashboard/wallets/{environment}', {
    token: person,
    path: { environment: 'TEST' },
  })
  await ask('an endpoint', 'GET /v1/dashboard/webhooks/{webhook_id}', {
    ...{ token: person, path: { webhook_id: demo.receiver.webhook_id } },
  })
  await ask('event types', 'GET /v1/public/event-types')
  await ask('public keys', 'GET /v1/public/jwks.json')
  await ask('readiness', 'GET /readyz')
  return exchanges
}
