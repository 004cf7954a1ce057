import { listPublicKeys } from '@pitboss/contracts/calls/auth'
import type { Answer, Inbound } from '../http/inbound.ts'
import type { HandlerDeps } from './handler-deps.ts'

/** `GET /v1/public/jwks.json`. Short-lived in caches, so that a rotation is seen in time. */
export async function jwks({ bus }: HandlerDeps, { context }: Inbound): Promise<Answer> {
  const { keys } = await bus.call(listPublicKeys, {}, context)
  return { status: 200, headers: { 'cache-control': 'public, max-age=60' }, json: { keys } }
}
