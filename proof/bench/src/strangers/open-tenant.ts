import { randomBytes } from 'node:crypto'
import type { Bus } from '@pitboss/bus/connect-bus'
import { opsCreateOperator } from '@pitboss/contracts/calls/auth-ops'
import { z } from 'zod'
import { expectStatus, type HttpClient } from '../harness/http-client.ts'
import { mintToken, openSession, signIn } from '../harness/operator.ts'

const keyMade = z.object({ api_key: z.string(), api_secret: z.string() })
const betMade = z.object({ round_id: z.string() })

/** An account of the benchmark's own, with a key of its TEST environment. */
export type Tenant = {
  readonly token: string
  /** A stake of a round that this account's server drives. @returns the answer's status, and its round. */
  bet(sessionId: string, transactionId: string): Promise<{ status: number; roundId: string | null }>
  /** An endpoint of the TEST environment for all events. */
  addEndpoint(url: string): Promise<void>
  session(playerId: string): Promise<{ sessionId: string; launchToken: string }>
}

/** Creates an operator with a key, and a wallet at `walletUrl`. */
export async function openTenant(
  { bus, http, name }: { bus: Bus; http: HttpClient; name: string },
  walletUrl: string,
): Promise<Tenant> {
  const dashboard = { email: `${name}@strangers.example`, password: randomBytes(12).toString('base64url') }
  const order = { by: 'bench', reason: 'strangers', dryRun: false }
  await bus.call(opsCreateOperator, {
    ...{ order, name, ...dashboard, plan: 'paid', approved: true },
    currencies: ['USD'],
  })
  const person = await signIn(http, { dashboard })
  const body = { name, environment: 'TEST', scopes: [], ip_allowlist: [] }
  const text = await expectStatus(
    201,
    http.send('POST', '/v1/dashboard/credentials', { token: person, body }),
  )
  const token = await mintToken(http, { test: keyMade.parse(JSON.parse(text)) })
  const wallet = { url: walletUrl, timeout_ms: 15_000, settle_losses: 'none' }
  await expectStatus(201, http.send('PUT', '/v1/dashboard/wallets/TEST', { token: person, body: wallet }))
  return {
    token,
    session: (playerId) => openSession(http, token, { player_id: playerId, game: 'dice', currency: 'USD' }),
    async addEndpoint(url) {
      const endpoint = { url, environment: 'TEST', events: [] }
      await expectStatus(201, http.send('POST', '/v1/dashboard/webhooks', { token: person, body: endpoint }))
    },
    async bet(sessionId, transactionId) {
      const bet = { type: 'BET', transaction_id: transactionId, session_id: sessionId }
      const order = { ...bet, amount: '1.00', currency: 'USD' }
      const answer = await http.send('POST', '/v1/transactions', { token, body: order })
      const made = answer.status === 201 ? betMade.parse(JSON.parse(answer.text)) : null
      return { status: answer.status, roundId: made?.round_id ?? null }
    },
  }
}
