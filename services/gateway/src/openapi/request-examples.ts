import type { RouteEntry } from '../routes/route-entry.ts'

/** Bodies that a schema alone does not tell, by route. */
const examples: Readonly<Record<string, unknown>> = {
  'POST /v1/sessions': { player_id: 'player-1', game: 'dice', currency: 'EUR', language: 'en' },
  'POST /v1/transactions': {
    type: 'BET',
    transaction_id: 'bet-2026-11-20-0001',
    session_id: 'ses_01jd3v8x5q7r2m4n6p8s0t1w3y',
    amount: '10.00',
    currency: 'EUR',
  },
  'POST /v1/game/rounds': {
    stake: '10.00',
    bet: { target: '50.00', direction: 'over' },
    client_seed: 'lucky-7',
  },
  'POST /v1/public/verify': {
    game: 'dice',
    stake: '10.00',
    payout: '0.00',
    currency: 'EUR',
    outcome: { roll: '12.34', target: '50.00', direction: 'over', won: false },
    fairness: {
      algorithm: 'fair-v1',
      server_seed_hash: 'b1b2d3a4c5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f90',
      client_seed: null,
      nonce: 7,
      server_seed: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    },
  },
  'POST /v1/public/wallet-callbacks/{operator_id}/{environment}': {
    transactionId: 'bet-2026-11-20-0001',
    status: 'SUCCESS',
  },
  'POST /v1/reports/reconciliation':
    '{"transaction_id":"bet-2026-11-20-0001","type":"BET","amount":"10.00","currency":"EUR","player_id":"player-1"}\n',
  'POST /v1/dashboard/credentials': {
    name: 'Lobby server',
    environment: 'TEST',
    scopes: ['sessions:write', 'events:read'],
    ip_allowlist: [],
  },
  'POST /v1/dashboard/webhooks': {
    url: 'https://casino.example.com/hooks/pitboss',
    environment: 'TEST',
    events: ['round.completed'],
  },
}

/** The example of a route's request body; undefined where its schema tells one. */
export function requestExample({ method, path }: RouteEntry): unknown {
  return examples[`${method} ${path}`]
}
