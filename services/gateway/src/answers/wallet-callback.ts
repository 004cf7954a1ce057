import { walletCallback as callbackCall } from '@pitboss/contracts/calls/wallet'
import { ServiceError } from '@pitboss/errors/service-error'
import { bodyBytesMax } from '../input/read-input.ts'
import type { AnswerDeps, Handler } from '../http/inbound.ts'
import { readBody } from '../input/read-body.ts'
import { singleHeader } from '../input/headers.ts'
import { z } from 'zod'

/** Source: docs/contract.md, section 11. */
export const callbackReply = z.strictObject({ status: z.literal('accepted') })

const bodyTimeoutMs = 10_000
const signatureCharactersMax = 256
const timestampCharactersMax = 64

/**
 * `POST /v1/public/wallet-callbacks/{operator_id}/{environment}`: forwards the raw bytes, since the wallet
 * signed them. Source: docs/contract.md, section 11.
 */
export function createWalletCallback({ bus }: AnswerDeps): Handler {
  return async ({ raw, params, context }) => {
    const environment = params.environment ?? ''
    if (environment !== 'TEST' && environment !== 'LIVE') throw new ServiceError('NOT_FOUND')
    const operator = params.operator_id ?? ''
    if (operator.length > 64) throw new ServiceError('INVALID_SIGNATURE')
    const body = await readBody(raw, { bytesMax: bodyBytesMax, timeoutMs: bodyTimeoutMs })
    const request = {
      operator,
      environment,
      rawBody: body.toString('base64'),
      timestamp: cut(singleHeader(raw, 'x-timestamp'), timestampCharactersMax),
      signature: cut(singleHeader(raw, 'x-signature'), signatureCharactersMax),
    }
    await bus.call(callbackCall, request, context)
    return { status: 202, json: { status: 'accepted' } }
  }
}

/** Null for a text that is too long: it cannot be right. */
function cut(text: string | null, charactersMax: number): string | null {
  return text === null || text.length > charactersMax ? null : text
}
