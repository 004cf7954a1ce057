import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { actedBy } from '@pitboss/contracts/audit'
import { acceptInvitation, login, logout, refreshLogin } from '@pitboss/contracts/calls/auth'
import * as endpoints from '@pitboss/contracts/endpoints/people'
import { answerPage } from '@pitboss/storage/read-page'
import { createChangeOwnLogin } from '../actions/change-own-login.ts'
import { createChangePeople } from '../actions/change-people.ts'
import type { AuthDeps } from '../actions/deps.ts'
import { createLogIn } from '../actions/log-in.ts'
import { toPublicPage } from '../records/account-view.ts'
import { toPublicSession } from '../records/user-view.ts'

/**
 * Logins, the signed-in person and the people of the account.
 * Source: docs/contract.md, sections 3 and 11.
 */
export function peopleCalls(deps: AuthDeps): CallHandler[] {
  const logIn = createLogIn(deps)
  const changeOwnLogin = createChangeOwnLogin(deps)
  const changePeople = createChangePeople(deps)
  return [
    handler(login, (request, { requestId }) => logIn.logIn(request, requestId)),
    handler(refreshLogin, ({ refreshToken }, { requestId }) => logIn.refresh(refreshToken, requestId)),
    handler(logout, async ({ refreshToken, clientAddress = null }, { requestId }) => {
      await logIn.logOut(refreshToken, clientAddress, requestId)
      return null
    }),
    handler(acceptInvitation, async (request, { requestId }) => ({
      user: await changePeople.accept(request, requestId),
    })),

    handler(endpoints.getMe.call, async ({ caller }) => ({
      status: 200,
      body: await changeOwnLogin.show(caller),
    })),
    handler(endpoints.changePassword.call, async ({ caller, body }, context) => ({
      status: 200,
      body: await changeOwnLogin.changePassword(caller, body, actedBy(caller, context)),
    })),
    handler(endpoints.enrolTotp.call, async ({ caller, body }, context) => ({
      status: 200,
      body: await changeOwnLogin.enrolTotp(caller, body.password, actedBy(caller, context)),
    })),
    handler(endpoints.confirmTotp.call, async ({ caller, body }, context) => ({
      status: 200,
      body: await changeOwnLogin.confirmTotp(caller, body.code, actedBy(caller, context)),
    })),
    handler(endpoints.removeTotp.call, async ({ caller, body }, context) => {
      await changeOwnLogin.removeTotp(caller, body, actedBy(caller, context))
      return { status: 204, body: null }
    }),

    handler(endpoints.listOwnSessions.call, async ({ caller, query }) => {
      const { actor } = caller
      const current = actor.kind === 'user' ? actor.session_id : undefined
      const page = await changeOwnLogin.listSessions(caller, query)
      return answerPage(page, (session) => toPublicSession(session, current))
    }),
    handler(endpoints.endOwnSession.call, async ({ caller, params }, context) => {
      await changeOwnLogin.endSession(caller, params.session_id, actedBy(caller, context))
      return { status: 204, body: null }
    }),

    handler(endpoints.listUsers.call, async ({ caller, query }) => ({
      status: 200,
      body: toPublicPage(await changePeople.list(caller.scope, query), (user) => user),
    })),
    handler(endpoints.inviteUser.call, async ({ caller, body }, context) => ({
      status: 201,
      body: await changePeople.invite(caller, body, actedBy(caller, context)),
    })),
    handler(endpoints.patchUser.call, async ({ caller, params, body }, context) => ({
      status: 200,
      body: await changePeople.changeRole(caller.scope, params.user_id, body.role, actedBy(caller, context)),
    })),
    handler(endpoints.removeUser.call, async ({ caller, params }, context) => {
      await changePeople.remove(caller.scope, params.user_id, actedBy(caller, context))
      return { status: 204, body: null }
    }),
  ]
}
