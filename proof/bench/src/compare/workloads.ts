import { randomUUID } from 'node:crypto'
import type { DemoFile } from '@pitboss/stack/demo-file'
import { expectStatus, type HttpClient } from '../harness/http-client.ts'
import { mintToken, openSession } from '../harness/operator.ts'

/** Does one request; `caller` counts from 0. */
export type Work = (caller: number) => Promise<void>

/** What two builds are compared by: each makes the same requests of a running product. */
export const workloads = {
  /** `GET /v1/sessions/{id}`: gateway, NATS, rounds, database. */
  async read(http: HttpClient, demo: DemoFile): Promise<Work> {
    const token = await mintToken(http, demo)
    const player = { player_id: 'reader', game: 'dice', currency: 'USD' }
    const { sessionId } = await openSession(http, token, player)
    return async () => {
      await expectStatus(200, http.send('GET', `/v1/sessions/${sessionId}`, { token }))
    }
  },
  /** A request with a known token that ends at the gateway. */
  async access(http: HttpClient, demo: DemoFile): Promise<Work> {
    const token = await mintToken(http, demo)
    return async () => {
      await expectStatus(422, http.send('GET', '/v1/games?limit=none', { token }))
    }
  },
  /** A round of dice per request, with its stake, its win and its deliveries. */
  async round(http: HttpClient, demo: DemoFile): Promise<Work> {
    const token = await mintToken(http, demo)
    const players = new Map<number, string>()
    const bet = { target: '50.00', direction: 'over' }
    return async (caller) => {
      const launchToken = players.get(caller) ?? (await openPlayer(http, token))
      players.set(caller, launchToken)
      await expectStatus(
        201,
        http.send('POST', '/v1/game/rounds', { token: launchToken, body: { stake: '0.10', bet } }),
      )
    }
  },
  /** `POST /v1/sessions`: an event per request, recorded and delivered. */
  async webhooks(http: HttpClient, demo: DemoFile): Promise<Work> {
    const token = await mintToken(http, demo)
    return async () => {
      await openPlayer(http, token)
    }
  },
} as const satisfies Record<string, (http: HttpClient, demo: DemoFile) => Promise<Work>>

export type WorkloadName = keyof typeof workloads

async function openPlayer(http: HttpClient, token: string): Promise<string> {
  const player = { player_id: `p-${randomUUID()}`, game: 'dice', currency: 'USD' }
  return (await openSession(http, token, player)).launchToken
}
