import { listPublicKeys } from '@pitboss/contracts/calls/auth'
import { ServiceError } from '@pitboss/errors/service-error'
import type { AnswerDeps, Handler } from '../http/inbound.ts'
import { errorAnswer } from '../http/send.ts'

/** `GET /healthz` */
export function createHealthz(): Handler {
  return async () => ({ status: 200, json: { status: 'ok' } })
}

/** `GET /readyz`: 200, or 503 naming what is missing, in the envelope of every error. */
export function createReadyz({ missing: probe }: AnswerDeps): Handler {
  return async ({ context }) => {
    const missing = await probe()
    if (missing.length === 0) return { status: 200, json: { status: 'ready' } }
    const error = new ServiceError('SERVICE_UNAVAILABLE', {
      message: `Not ready: ${missing.map(({ name }) => name).join(', ')}.`,
      details: missing.map(({ name, problem }) => ({ path: name, message: problem })),
    })
    return errorAnswer(error, context.requestId)
  }
}

/** `GET /v1/public/jwks.json`. Short-lived in caches, so that a rotation is seen in time. */
export function createPublicKeys({ bus }: AnswerDeps): Handler {
  return async ({ context }) => {
    const { keys } = await bus.call(listPublicKeys, {}, context)
    return { status: 200, headers: { 'cache-control': 'public, max-age=60' }, json: { keys } }
  }
}
