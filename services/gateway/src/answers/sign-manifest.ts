import { signDocument } from '@pitboss/contracts/calls/auth'
import { manifestSchema } from '@pitboss/contracts/endpoints/events'
import { manifestType } from '@pitboss/contracts/token-claims'
import type { AnswerDeps, Handler } from '../http/inbound.ts'
import type { ForwardCall } from '../routes/route-entry.ts'
import { callService } from './forward.ts'

/**
 * `GET /v1/events/manifest`: the manifest and, in `signature`, a compact JWS over it by the current token
 * key.
 */
export function signManifest(deps: AnswerDeps, call: ForwardCall): Handler {
  return async (inbound) => {
    const { status, body } = await callService(deps, call, inbound)
    const manifest = manifestSchema.parse(body)
    const request = { typ: manifestType, payload: manifest }
    const { jws } = await deps.bus.call(signDocument, request, inbound.context)
    return { status, json: { ...manifest, signature: jws } }
  }
}
