import type { Bus } from '@pitboss/bus/connect-bus'
import type { CallContext } from '@pitboss/contracts/call'
import type { Account, Caller } from '@pitboss/contracts/caller'
import { login, logout } from '@pitboss/contracts/calls/auth'
import { type AccountMode, toEventEnvironment } from '@pitboss/contracts/primitives'
import { tokenClaimsSchema } from '@pitboss/contracts/token-claims'
import { newId } from '@pitboss/runtime/new-id'

type SignedIn = { actor: Caller['actor']; token: string; refreshToken: string }

/**
 * The demo operator's owner, who signs in when there is something to ask. Services are asked for him as the
 * gateway would, with his token.
 */
export function createDemoOwner({
  bus,
  account,
  handle,
  email,
  password,
}: {
  bus: Bus
  account: Account
  handle: string
  email: string
  password: string
}) {
  let signingIn: Promise<SignedIn> | null = null

  async function signIn(): Promise<SignedIn> {
    const { body, refreshToken } = await bus.call(login, { email, password, totp: null, operator_id: handle })
    const payload = Buffer.from(body.access_token.split('.')[1] ?? '', 'base64url').toString()
    const { sub, sid, fwd = body.access_token } = tokenClaimsSchema.parse(JSON.parse(payload))
    const session = sid === undefined ? {} : { session_id: sid }
    const actor = { kind: 'user', user_id: sub, email, role: 'OWNER', ...session } as const
    return { actor, token: fwd, refreshToken }
  }

  return {
    /** The caller of a request, and what travels beside it. @throws ServiceError of the sign-in. */
    async callIn(environment: AccountMode): Promise<{ caller: Caller; context: CallContext }> {
      signingIn ??= signIn()
      const { actor, token } = await signingIn
      const caller: Caller = {
        scope: { operatorId: account.operator_id, environment: toEventEnvironment(environment) },
        eitherEnvironment: false,
        account,
        actor,
        idempotencyKey: null,
        clientAddress: '127.0.0.1',
      }
      return { caller, context: { requestId: newId('req'), token } }
    },
    /** Leaves no session behind. */
    async signOut(): Promise<void> {
      if (signingIn !== null) await bus.call(logout, { refreshToken: (await signingIn).refreshToken })
    },
  }
}
