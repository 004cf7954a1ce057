import { Api, type HttpResponse, type RoundCompletedEvent } from '../generated/swagger-typescript-api/Api.js'
import type { Error as Refusal } from '../generated/swagger-typescript-api/Api.js'
import { type Access, playerToken, type Seen, untilFound } from './flow.js'

export async function play({ baseUrl, apiKey, apiSecret }: Access): Promise<Seen> {
  const anybody = new Api({ baseUrl })
  const as = (token: string) => {
    const headers = { authorization: `Bearer ${token}` }
    return new Api<string>({ baseUrl, securityWorker: () => ({ headers }) })
  }
  const { data: token } = await anybody.v1.postAuthToken({ api_key: apiKey, api_secret: apiSecret })

  const operator = as(token.access_token)
  const { data: session } = await operator.v1.postSessions({
    ...{ player_id: 'swagger-typescript-api', game: 'dice', currency: 'USD' },
  })

  const player = as(playerToken(session.launch_url))
  const { data: state } = await player.v1.getGameSession()
  const bet = { target: '50.00', direction: 'over' } as const
  const { data: round } = await player.v1.postGameRounds({ stake: '1.00', bet })
  if (round.fairness.server_seed_hash !== state.next_round.server_seed_hash)
    throw new Error('the round was not committed to')
  const refused = await player.v1.postGameRounds({ stake: '0.00', bet }).then(
    () => {
      throw new Error('a stake of nothing was taken')
    },
    // Safe: it rejects with the answer.
    (answer: unknown) => answer as HttpResponse<never, Refusal>,
  )

  const { data: read } = await operator.v1.getRoundsRoundId(round.round_id)

  let cursor: string | undefined
  const event = await untilFound(async () => {
    const query = cursor === undefined ? { limit: 200 } : { cursor, limit: 200 }
    const { data: page } = await operator.v1.getEvents(query)
    cursor = page.next_cursor
    return page.data.find(
      (one): one is RoundCompletedEvent =>
        one.type === 'round.completed' && one.data.round_id === round.round_id,
    )
  })
  const { outcome } = event.data
  const roll = outcome !== null && 'roll' in outcome ? String(outcome.roll) : 'none'
  const { data: verified } = await anybody.v1.postPublicVerify(event.data)

  const { data: movement } = await operator.v1.postTransactions({
    transaction_id: `swagger-typescript-api-${round.round_id}`,
    session_id: session.session_id,
    type: 'BET',
    amount: '1.00',
    currency: 'USD',
  })
  return {
    ...{ sessionId: session.session_id, roundId: round.round_id, eventId: event.id, roll },
    ...{ payouts: [round.payout, read.payout, event.data.payout], isValid: verified.valid },
    ...{ refusal: refused.error.code, movement: movement.transaction_id },
  }
}
