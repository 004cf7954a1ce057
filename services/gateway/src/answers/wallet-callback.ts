import { walletCallback as callbackCall } from '@pitboss/contracts/calls/wallet'
import { ServiceError } from '@pitboss/errors/service-error'
import { bodyBytesMax } from '../http/read-input.ts'
import type { Answer, Inbound } from '../http/inbound.ts'
import { readBody } from '../input/read-body.ts'
import { singleHeader } from '../input/single-header.ts'
import type { HandlerDeps } from './handler-deps.ts'

const bodyTimeoutMs = 10_000
const signatureCharactersMax = 256
const timestampCharactersMax = 64

/**
 * `POST /v1/public/wallet-callbacks/{operator_id}/{environment}`: the raw bytes go on as they came, since they are what was signed.
 * Source: contract section 11.
 */
export async function walletCallback({ bus }: HandlerDeps, inbound: Inbound): Promise<Answer> {
  const { raw, params, context } = inbound
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

/** What is too long cannot be right and is left out. */
function cut(text: string | null, charactersMax: number): string | null {
  return text === null || text.length > charactersMax ? null : text
}
