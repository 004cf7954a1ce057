import t from 'tap'
import { scopeOfRequest } from '../../src/rules/scope-of-request.ts'

const cases = [
  ['GET', '/v1/sessions', 'sessions:read'],
  ['POST', '/v1/sessions', 'sessions:write'],
  ['POST', '/v1/sessions/ses_1/close', 'sessions:write'],
  ['GET', '/v1/players/a%20b/stops', 'sessions:read'],
  ['GET', '/v1/rounds', 'history:read'],
  ['GET', '/v1/rounds/rnd_1', 'history:read'],
  ['POST', '/v1/rounds/rnd_1/void', 'transactions:write'],
  ['PATCH', '/v1/games/dice', 'games:write'],
  ['GET', '/v1/events', 'events:read'],
  ['GET', '/v1/webhook-deliveries', 'events:read'],
  ['POST', '/v1/webhook-deliveries/dlv_1/retry', null],
  ['POST', '/v1/free-bets', 'engagement:write'],
  ['GET', '/v1/reports/summary', 'reports:read'],
  ['GET', '/v1/business', null],
  ['POST', '/v1/auth/token', null],
  ['GET', '/v1/sessions/ses_1/close', null],
  ['GET', '/v1/rounds/rnd_1/void/more', null],
  ['DELETE', '/v1/rounds', null],
] as const

for (const [method, path, scope] of cases)
  t.test(`${method} ${path} needs ${scope ?? 'no scope'}`, async (t) => {
    t.equal(scopeOfRequest({ method, path }), scope)
  })
