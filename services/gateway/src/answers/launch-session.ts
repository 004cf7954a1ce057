import { mintLaunchToken } from '@pitboss/contracts/calls/auth'
import { sessionSchema } from '@pitboss/contracts/objects/session'
import type { AnswerDeps, Handler } from '../http/inbound.ts'
import type { ForwardCall } from '../routes/route-entry.ts'
import { callerOf, callService } from './forward.ts'

/**
 * A player can finish a round, and is told SESSION_EXPIRED and not TOKEN_EXPIRED. Source: docs/contract.md,
 * section 11.
 */
const tokenOutlivesSessionMs = 30 * 60_000

/**
 * `POST /v1/sessions`: the session of the rounds service with a launch url. The token is in the fragment, so
 * it reaches no log.
 */
export function launchSession(deps: AnswerDeps, call: ForwardCall): Handler {
  return async (inbound) => {
    const { status, body } = await callService(deps, call, inbound)
    const session = sessionSchema.parse(body)
    const expiresAt = new Date(Date.parse(session.expires_at) + tokenOutlivesSessionMs).toISOString()
    const { scope } = callerOf(inbound)
    const request = { scope, sessionId: session.session_id, expiresAt }
    const { token } = await deps.bus.call(mintLaunchToken, request, inbound.context)
    const launchUrl = `${deps.baseUrl}/play/${encodeURIComponent(session.game)}#token=${token}`
    return { status, json: { ...session, launch_url: launchUrl } }
  }
}
