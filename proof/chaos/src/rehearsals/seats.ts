import type { DemoFile } from '@pitboss/stack/demo-file'
import { createOperatorClient, type OperatorClient, untilStatus } from '../operator-client.ts'
import { type Answer, launchTokenOf, send } from '../send.ts'
import type { Seat } from './clients-at-work.ts'

const stake = '1.00'
const tile = 12

export type Seats = {
  readonly all: readonly Seat[]
  /** The operator's server, with the token that it has now. */
  operator(): OperatorClient
}

/**
 * Clients of every kind: players of dice and of mines, the operator's server that opens sessions and reads,
 * and a person at the dashboard. Their answers are read as they are: an older build describes fewer fields.
 */
export async function takeSeats(demo: DemoFile): Promise<Seats> {
  let operator = await createOperatorClient(demo, demo.test)
  const renew = async () => {
    operator = await createOperatorClient(demo, demo.test)
  }
  const dashboard = `${demo.base_url}/v1/dashboard`
  let person = await signIn(demo)

  const sit = async (player_id: string, game: string) => {
    const token = await openSeat(operator, player_id, game)
    return (path: string, asked: object = {}) =>
      send('POST', `${operator.base}${path}`, { token, body: asked })
  }
  const player = async (
    name: string,
    game: string,
    turnOf: (ask: Awaited<ReturnType<typeof sit>>, transaction_id: string) => Promise<Answer>,
  ): Promise<Seat> => {
    let ask = await sit(name, game)
    return {
      name,
      ask: (turn) => turnOf(ask, `${name}-${turn}`),
      renew: async () => {
        await renew()
        ask = await sit(name, game)
      },
    }
  }
  const dice = (name: string) =>
    player(name, 'dice', (ask, transaction_id) =>
      ask('/game/rounds', { stake, bet: { target: '50.00', direction: 'over' }, transaction_id }),
    )
  const mines = (name: string) => player(name, 'mines', playMines)
  const server = (name: string, ask: Seat['ask']): Seat => ({ name, ask, renew })
  return {
    operator: () => operator,
    all: [
      await dice('ann'),
      await dice('ben'),
      await dice('cleo'),
      await mines('mia'),
      await mines('max'),
      server("the operator's server, opening sessions", (turn) =>
        operator.call('POST', '/sessions', {
          player_id: `guest-${turn % 50}`,
          game: 'dice',
          currency: 'USD',
        }),
      ),
      server("the operator's server, reading", () => operator.call('GET', '/transactions?limit=20')),
      {
        name: 'a person at the dashboard',
        ask: () => send('GET', `${dashboard}/me`, { token: person }),
        renew: async () => {
          person = await signIn(demo)
        },
      },
    ],
  }
}

/** Opens a session. @returns the player's token */
export async function openSeat(operator: OperatorClient, player_id: string, game: string): Promise<string> {
  const body = { player_id, game, currency: 'USD' }
  return launchTokenOf(await untilStatus(201, () => operator.call('POST', '/sessions', body)))
}

/** Signs the demo's person in at the dashboard. @returns the token */
export async function signIn({ base_url, dashboard: { email, password } }: DemoFile): Promise<string> {
  const login = () => send('POST', `${base_url}/v1/dashboard/login`, { body: { email, password } })
  return String((await untilStatus(200, login)).body.access_token)
}

/** Opens a round, one tile, and cashes out; each request repeated answers what it answered before. */
async function playMines(
  ask: (path: string, body?: object) => Promise<Answer>,
  transaction_id: string,
): Promise<Answer> {
  const opened = await ask('/game/rounds', { stake, bet: { mines: 3 }, transaction_id })
  if (opened.status !== 201 || opened.body.status !== 'OPEN') return opened
  const round = `/game/rounds/${String(opened.body.round_id)}`
  const revealed = await ask(`${round}/reveal`, { tile })
  if (revealed.status !== 200 || revealed.body.status !== 'OPEN') return revealed
  return ask(`${round}/cashout`)
}
