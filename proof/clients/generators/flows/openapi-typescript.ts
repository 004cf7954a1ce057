import createClient from 'openapi-fetch'
import type { components, paths } from '../generated/openapi-typescript/schema.js'
import { type Access, playerToken, type Seen, untilFound } from './flow.js'

type RoundCompleted = components['schemas']['RoundCompletedEvent']

export async function play({ baseUrl, apiKey, apiSecret }: Access): Promise<Seen> {
  const anybody = createClient<paths>({ baseUrl })
  const minted = await anybody.POST('/v1/auth/token', { body: { api_key: apiKey, api_secret: apiSecret } })
  if (minted.data === undefined) throw new Error(minted.error.message)
  const as = (token: string) =>
    createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${token}` } })

  const operator = as(minted.data.access_token)
  const body = { player_id: 'openapi-typescript', game: 'dice', currency: 'USD' }
  const opened = await operator.POST('/v1/sessions', { body })
  if (opened.data === undefined) throw new Error(opened.error.message)
  const session = opened.data

  const player = as(playerToken(session.launch_url))
  const state = await player.GET('/v1/game/session')
  if (state.data === undefined) throw new Error(state.error.message)
  const played = await player.POST('/v1/game/rounds', {
    body: { stake: '1.00', bet: { target: '50.00', direction: 'over' } },
  })
  if (played.data === undefined) throw new Error(played.error.message)
  const round = played.data
  if (round.fairness.server_seed_hash !== state.data.next_round.server_seed_hash)
    throw new Error('the round was not committed to')
  const refused = await player.POST('/v1/game/rounds', {
    body: { stake: '0.00', bet: { target: '50.00', direction: 'over' } },
  })
  if (refused.error === undefined) throw new Error('a stake of nothing was taken')

  const read = await operator.GET('/v1/rounds/{round_id}', {
    params: { path: { round_id: round.round_id } },
  })
  if (read.data === undefined) throw new Error(read.error.message)

  let cursor: string | undefined
  const event = await untilFound(async () => {
    const query = cursor === undefined ? { limit: 200 } : { cursor, limit: 200 }
    const page = await operator.GET('/v1/events', { params: { query } })
    if (page.data === undefined) throw new Error(page.error.message)
    cursor = page.data.next_cursor
    return page.data.data.find(
      (one): one is RoundCompleted => one.type === 'round.completed' && one.data.round_id === round.round_id,
    )
  })
  const { outcome } = event.data
  const roll = outcome !== null && 'roll' in outcome ? String(outcome.roll) : 'none'
  const verified = await anybody.POST('/v1/public/verify', { body: event.data })
  if (verified.data === undefined) throw new Error(verified.error.message)

  const bet = await operator.POST('/v1/transactions', {
    body: {
      transaction_id: `openapi-typescript-${round.round_id}`,
      session_id: session.session_id,
      type: 'BET',
      amount: '1.00',
      currency: 'USD',
    },
  })
  if (bet.data === undefined) throw new Error(bet.error.message)
  return {
    ...{ sessionId: session.session_id, roundId: round.round_id, eventId: event.id, roll },
    ...{ payouts: [round.payout, read.data.payout, event.data.payout], isValid: verified.data.valid },
    ...{ refusal: refused.error.code, movement: bet.data.transaction_id },
  }
}
