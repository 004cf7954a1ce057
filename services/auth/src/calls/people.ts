import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import * as endpoints from '@pitboss/contracts/endpoints/people'
import { createChangeOwnLogin } from '../actions/change-own-login.ts'
import { createChangeRole } from '../actions/change-role.ts'
import type { AuthDeps } from '../actions/deps.ts'
import { createInviteUser } from '../actions/invite-user.ts'
import { createReadPeople } from '../actions/read-people.ts'

/** The signed-in person and the people of the account. Source: docs/contract.md, section 11. */
export function peopleCalls(deps: AuthDeps): CallHandler[] {
  const changeOwnLogin = createChangeOwnLogin(deps)
  const changeRole = createChangeRole(deps)
  const inviteUser = createInviteUser(deps)
  const readPeople = createReadPeople(deps)
  return [
    handler(endpoints.getMe.call, async ({ caller }) => ({
      status: 200,
      body: await changeOwnLogin.show(caller),
    })),
    handler(endpoints.changePassword.call, async ({ caller, body }) => ({
      status: 200,
      body: await changeOwnLogin.changePassword(caller, body),
    })),
    handler(endpoints.enrolTotp.call, async ({ caller }) => ({
      status: 200,
      body: await changeOwnLogin.enrolTotp(caller),
    })),
    handler(endpoints.confirmTotp.call, async ({ caller, body }) => ({
      status: 200,
      body: await changeOwnLogin.confirmTotp(caller, body.code),
    })),
    handler(endpoints.removeTotp.call, async ({ caller, body }) => {
      await changeOwnLogin.removeTotp(caller, body.password)
      return { status: 204, body: null }
    }),

    handler(endpoints.listUsers.call, async ({ caller, query }) => ({
      status: 200,
      body: await readPeople.list(caller.scope, query),
    })),
    handler(endpoints.inviteUser.call, async ({ caller, body }) => ({
      status: 201,
      body: await inviteUser.invite(caller, body),
    })),
    handler(endpoints.patchUser.call, async ({ caller, params, body }) => ({
      status: 200,
      body: await changeRole.change(caller.scope, params.user_id ?? '', body.role),
    })),
    handler(endpoints.removeUser.call, async ({ caller, params }) => {
      await changeRole.remove(caller.scope, params.user_id ?? '')
      return { status: 204, body: null }
    }),
  ]
}
