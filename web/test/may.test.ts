import * as approvals from '@pitboss/contracts/endpoints/approvals'
import * as auth from '@pitboss/contracts/endpoints/auth'
import * as flags from '@pitboss/contracts/endpoints/flags'
import * as people from '@pitboss/contracts/endpoints/people'
import * as players from '@pitboss/contracts/endpoints/players'
import * as reconciliations from '@pitboss/contracts/endpoints/reconciliations'
import * as rounds from '@pitboss/contracts/endpoints/rounds'
import * as sessions from '@pitboss/contracts/endpoints/sessions'
import * as wallet from '@pitboss/contracts/endpoints/wallet'
import * as webhooks from '@pitboss/contracts/endpoints/webhooks'
import t from 'tap'
import { relativeText } from '../dashboard/src/parts/relative-text.ts'
import { type Act, routeRoles, whyNoKeyLike, whyNot } from '../dashboard/src/session/may.ts'

type Described = { route: string; access: { dashboard?: readonly string[] } }
const endpoints: Described[] = [
  approvals,
  auth,
  flags,
  people,
  players,
  reconciliations,
  rounds,
  sessions,
  wallet,
  webhooks,
].flatMap((file) =>
  Object.values(file).filter(
    (one): one is Extract<typeof one, Described> => 'route' in one && 'access' in one,
  ),
)

t.test('the dashboard opens to a role what the API opens to it', (t) => {
  for (const [route, roles] of Object.entries(routeRoles)) {
    const endpoint = endpoints.find((one) => one.route === route)
    t.strictSame(roles, endpoint?.access.dashboard, route)
  }
  t.end()
})

t.test('what a role may not do says who may', (t) => {
  const invite: Act = 'POST /v1/dashboard/users'
  t.equal(whyNot('OWNER', invite), null)
  t.equal(whyNot('ADMIN', invite), 'Your role is ADMIN. This is for OWNER.')
  const scoped = { environment: 'TEST', scopes: ['games:read'] } as const
  t.equal(whyNoKeyLike('DEVELOPER', scoped), null)
  t.match(whyNoKeyLike('DEVELOPER', { ...scoped, scopes: [] }), /without scopes/)
  t.match(whyNoKeyLike('DEVELOPER', { ...scoped, environment: 'LIVE' }), /LIVE/)
  t.equal(whyNoKeyLike('ADMIN', { environment: 'LIVE', scopes: [] }), null)
  t.match(whyNoKeyLike('VIEWER', scoped), /VIEWER/)
  t.end()
})

t.test('a time is told relative to now', (t) => {
  const now = Date.parse('2026-11-22T12:00:00.000Z')
  const told = (iso: string) => relativeText(iso, now)
  t.equal(told('2026-11-22T12:00:00.400Z'), 'now')
  t.equal(told('2026-11-22T11:59:18.000Z'), '42 seconds ago')
  t.equal(told('2026-11-22T14:59:59.000Z'), 'in 2 hours')
  t.equal(told('2026-11-20T11:00:00.000Z'), '2 days ago')
  t.end()
})
