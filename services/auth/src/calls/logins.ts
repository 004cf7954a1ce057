import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { acceptInvitation, login, logout, refreshLogin } from '@pitboss/contracts/calls/auth'
import type { AuthDeps } from '../actions/deps.ts'
import { createInviteUser } from '../actions/invite-user.ts'
import { createLogIn } from '../actions/log-in.ts'

/** Logins of people to the dashboard. Source: docs/contract.md, sections 3 and 11. */
export function loginCalls(deps: AuthDeps): CallHandler[] {
  const logIn = createLogIn(deps)
  const inviteUser = createInviteUser(deps)
  return [
    handler(login, (request) => logIn.logIn(request)),
    handler(refreshLogin, ({ refreshToken }) => logIn.refresh(refreshToken)),
    handler(logout, async ({ refreshToken }) => {
      await logIn.logOut(refreshToken)
      return null
    }),
    handler(acceptInvitation, async (request) => ({ user: await inviteUser.accept(request) })),
  ]
}
