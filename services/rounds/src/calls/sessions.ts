import { answer, type CallHandler, handler, handlers } from '@pitboss/bus/serve-calls'
import { personActing } from '@pitboss/contracts/audit'
import { currenciesInUse } from '@pitboss/contracts/calls/rounds'
import * as endpoints from '@pitboss/contracts/endpoints/sessions'
import { answerPage } from '@pitboss/storage/read-page'
import { closeSession, findSession, listSessions } from '../actions/manage-sessions.ts'
import { openSession } from '../actions/open-session.ts'
import type { RoundsContext } from '../context.ts'
import { presentSession } from '../records/present-session.ts'

/** Calls of operators about sessions. Source: docs/contract.md, sections 4 and 11. */
export function sessionCalls(context: RoundsContext): CallHandler[] {
  const { clock } = context
  return [
    handler(endpoints.createSession.call, async ({ caller, body }) =>
      answer(presentSession(await openSession(context, caller, body), clock.now()), 201),
    ),
    ...handlers(
      [endpoints.listSessions.call, endpoints.dashboardListSessions.call],
      async ({ caller, query }) => {
        const now = clock.now()
        return answerPage(await listSessions(context, caller, query, now), (one) => presentSession(one, now))
      },
    ),
    ...handlers([endpoints.getSession.call, endpoints.dashboardGetSession.call], async ({ caller, params }) =>
      answer(presentSession(await findSession(context, caller, params.session_id), clock.now())),
    ),
    ...handlers(
      [endpoints.closeSession.call, endpoints.dashboardCloseSession.call],
      async ({ caller, params }, call) => {
        const [now, by] = [clock.now(), personActing(caller, call)]
        return answer(presentSession(await closeSession(context, caller, params.session_id, now, by), now))
      },
    ),
    handler(currenciesInUse, async ({ operatorId }) => ({
      currencies: await context.sessions.currenciesInUse(operatorId, clock.now()),
    })),
  ]
}
