import type { RoundCompletedEvent } from '../generated/hey-api/index.js'
import * as api from '../generated/hey-api/index.js'
import { createClient } from '../generated/hey-api/client/index.js'
import { type Access, playerToken, type Seen, untilFound } from './flow.js'

export async function play({ baseUrl, apiKey, apiSecret }: Access): Promise<Seen> {
  const anybody = createClient({ baseUrl })
  const minted = await api.postAuthToken({
    client: anybody,
    body: { api_key: apiKey, api_secret: apiSecret },
  })
  if (minted.data === undefined) throw new Error(minted.error.message)
  const as = (token: string) => createClient({ baseUrl, auth: token })

  const operator = as(minted.data.access_token)
  const { data: session } = await api.postSessions({
    client: operator,
    throwOnError: true,
    body: { player_id: 'hey-api', game: 'dice', currency: 'USD' },
  })

  const player = as(playerToken(session.launch_url))
  const { data: state } = await api.getGameSession({ client: player, throwOnError: true })
  const { data: round } = await api.postGameRounds({
    client: player,
    throwOnError: true,
    body: { stake: '1.00', bet: { target: '50.00', direction: 'over' } },
  })
  if (round.fairness.server_seed_hash !== state.next_round.server_seed_hash)
    throw new Error('the round was not committed to')
  const refused = await api.postGameRounds({
    client: player,
    body: { stake: '0.00', bet: { target: '50.00', direction: 'over' } },
  })
  if (refused.error === undefined) throw new Error('a stake of nothing was taken')

  const { data: read } = await api.getRoundsRoundId({
    client: operator,
    throwOnError: true,
    path: { round_id: round.round_id },
  })

  let cursor: string | undefined
  const event = await untilFound(async () => {
    const query = cursor === undefined ? { limit: 200 } : { cursor, limit: 200 }
    const { data: page } = await api.getEvents({ client: operator, throwOnError: true, query })
    cursor = page.next_cursor
    return page.data.find(
      (one): one is RoundCompletedEvent =>
        one.type === 'round.completed' && one.data.round_id === round.round_id,
    )
  })
  const { outcome } = event.data
  const roll = outcome !== null && 'roll' in outcome ? String(outcome.roll) : 'none'
  const { data: verified } = await api.postPublicVerify({
    client: anybody,
    throwOnError: true,
    body: event.data,
  })

  const { data: bet } = await api.postTransactions({
    client: operator,
    throwOnError: true,
    body: {
      transaction_id: `hey-api-${round.round_id}`,
      session_id: session.session_id,
      type: 'BET',
      amount: '1.00',
      currency: 'USD',
    },
  })
  return {
    ...{ sessionId: session.session_id, roundId: round.round_id, eventId: event.id, roll },
    ...{ payouts: [round.payout, read.payout, event.data.payout], isValid: verified.valid },
    ...{ refusal: refused.error.code, movement: bet.transaction_id },
  }
}
