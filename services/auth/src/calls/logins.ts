import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { acceptInvitation, login, logout, refreshLogin } from '@pitboss/contracts/calls/auth'
import type { InviteUser } from '../actions/invite-user.ts'
import type { LogIn } from '../actions/log-in.ts'

/** Logins of people to the dashboard. Source: docs/contract.md, sections 3 and 11. */
export function loginCalls({ logIn, inviteUser }: { logIn: LogIn; inviteUser: InviteUser }): CallHandler[] {
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
