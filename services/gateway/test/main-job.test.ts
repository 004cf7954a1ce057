import t from 'tap'
import { ask } from './fixtures/ask.ts'
import { startWorld } from './fixtures/start-world.ts'
import { ids } from './fixtures/test-ids.ts'

await t.test('the main job goes from key pair to played round', async (t) => {
  const world = await startWorld(t)
  const { url } = world
  const minted = await ask(`${url}/v1/auth/token`, {
    method: 'POST',
    body: { api_key: ids.testKey, api_secret: 's' },
  })
  t.match(minted, { status: 200, json: { token_type: 'Bearer', operator: { name: 'Acme', mode: 'TEST' } } })
  t.equal(minted.headers.get('ratelimit-limit'), '30')

  const token = await world.operatorToken()
  const session = await ask(`${url}/v1/sessions`, {
    method: 'POST',
    token,
    body: { player_id: 'p', game: 'dice', currency: 'EUR' },
    headers: { 'idempotency-key': 'once' },
  })
  t.equal(session.status, 201)
  t.match(session.json, {
    launch_url: `https://play.example.com/play/dice#token=launch.${ids.session}.2026-11-20T11:00:00.000Z`,
  })
  t.match(world.forwarded.at(-1), {
    subject: 'rounds.v1.session.create',
    request: {
      caller: {
        scope: { operatorId: ids.operator, environment: 'SANDBOX' },
        eitherEnvironment: false,
        account: { name: 'Acme' },
        actor: { kind: 'credential', api_key: ids.testKey },
        idempotencyKey: 'once',
        clientAddress: '127.0.0.1',
      },
      body: { expires_in_s: 3600 },
    },
  })

  const player = await world.playerToken()
  const played = await ask(`${url}/v1/game/rounds`, {
    method: 'POST',
    token: player,
    body: { stake: '1.00', bet: { target: '50.00', direction: 'over' } },
  })
  t.match(played, { status: 201, json: { round_id: ids.round } })
  t.match(world.forwarded.at(-1)?.request.caller.actor, { kind: 'session', session_id: ids.session })

  for (const path of ['/v1/events?limit=3', '/v1/transactions', '/v1/game/session']) {
    const answer = await ask(`${url}${path}`, { token: path.startsWith('/v1/game') ? player : token })
    t.equal(answer.status, 200, path)
    t.match(answer.headers.get('x-request-id'), /^req_/)
    t.ok(answer.headers.get('ratelimit-remaining'))
  }
  const bet = { type: 'BET', transaction_id: 'b1', session_id: ids.session, amount: '1.00', currency: 'EUR' }
  t.equal((await ask(`${url}/v1/transactions`, { method: 'POST', token, body: bet })).status, 201)
})
