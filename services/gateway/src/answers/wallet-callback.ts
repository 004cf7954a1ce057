import { walletCallback as callbackCall } from '@pitboss/contracts/calls/wallet'
import { ServiceError } from '@pitboss/errors/service-error'
import { z } from 'zod'
import { limiterAddress } from '../access/client-address.ts'
import type { Answer, AnswerDeps, Inbound } from '../http/inbound.ts'
import { singleHeader } from '../input/headers.ts'

/** Source: docs/contract.md, section 11. */
export const callbackReply = z.strictObject({ status: z.literal('accepted') })

const operatorCharactersMax = 64
const signatureCharactersMax = 256
const timestampCharactersMax = 64
/** Refusals of a callback whose signature was right. */
const judgedAfterSignature = new Set(['TRANSACTION_NOT_FOUND', 'VALIDATION_ERROR'])

/**
 * `POST /v1/public/wallet-callbacks/{operator_id}/{environment}`: forwards the raw bytes, since the wallet
 * signed them. One with a good signature counts toward its operator, any other toward its address. Which of
 * them is known afterwards, so those that were under way together count as debt. Source: docs/contract.md,
 * sections 8 and 11.
 */
export function createWalletCallback({ bus, limiters }: AnswerDeps) {
  return async ({ raw, params, body, context, clientAddress, admit }: Inbound<Buffer>): Promise<Answer> => {
    const environment = params.environment ?? ''
    if (environment !== 'TEST' && environment !== 'LIVE') throw new ServiceError('NOT_FOUND')
    const address = limiterAddress(clientAddress)
    const operator = params.operator_id ?? ''
    const before = [limiters.peek('address', address), limiters.peek('callback', operator)]
    for (const verdict of before) if (!verdict.allowed) admit(verdict)
    const request = {
      operator: operator.slice(0, operatorCharactersMax),
      environment,
      rawBody: body.toString('base64'),
      timestamp: cut(singleHeader(raw, 'x-timestamp'), timestampCharactersMax),
      signature: cut(singleHeader(raw, 'x-signature'), signatureCharactersMax),
    }
    const show = (name: 'address' | 'callback', key: string) =>
      admit({ ...limiters.book(name, key), allowed: true })
    try {
      if (operator.length > operatorCharactersMax) throw new ServiceError('INVALID_SIGNATURE')
      await bus.call(callbackCall, request, context)
    } catch (error) {
      const isSigned = error instanceof ServiceError && judgedAfterSignature.has(error.code)
      if (isSigned) show('callback', operator)
      else show('address', address)
      throw error
    }
    show('callback', operator)
    return { status: 202, json: { status: 'accepted' } }
  }
}

/** Null for a text that is too long: it cannot be right. */
function cut(text: string | null, charactersMax: number): string | null {
  return text === null || text.length > charactersMax ? null : text
}
