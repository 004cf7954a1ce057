import { answer, type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { answerRealityCheck as endpoint } from '@pitboss/contracts/endpoints/play'
import type { RoundsContext } from '../../../context.ts'
import { presentSession } from '../../../records/present-session.ts'
import { answerRealityCheck } from '../actions/answer-reality-check.ts'

/** The player's answer to a reality check. Source: docs/contract.md, section 4, "Jurisdictions". */
export function realityCheckCalls(context: RoundsContext): CallHandler[] {
  return [
    handler(endpoint.call, async ({ caller, body: { choice } }) => {
      const now = context.clock.now()
      return answer(presentSession(await answerRealityCheck(context, caller, choice, now), now))
    }),
  ]
}
