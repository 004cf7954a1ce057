import { mintToken as mintCall } from '@pitboss/contracts/calls/auth'
import type { tokenBody } from '@pitboss/contracts/objects/user'
import { operatorIdOf } from '@pitboss/contracts/primitives'
import { ServiceError } from '@pitboss/errors/service-error'
import type { z } from 'zod'
import { limiterAddress } from '../access/client-address.ts'
import type { Answer, AnswerDeps, Inbound } from '../http/inbound.ts'
import { hashedKey } from '../limits/limiters.ts'

type MintInbound = Inbound<z.infer<typeof tokenBody>>

/**
 * `POST /v1/auth/token`. The address was counted before the body. Two limits of the key follow: every try
 * counts for the key from this address, every token for the key from anywhere. So guesses from one address
 * stop, and the key's owner is not locked out elsewhere.
 */
export function createMintToken({ limiters, bus }: AnswerDeps) {
  return async function mintToken(inbound: MintInbound): Promise<Answer> {
    const { api_key, api_secret } = inbound.body
    const { clientAddress } = inbound
    const key = hashedKey(api_key)
    const ofKey = limiters.peek('mintKey', key)
    if (!ofKey.allowed) inbound.admit(ofKey)
    inbound.admit(limiters.take('mintPair', `${key} ${limiterAddress(clientAddress)}`))
    const token = await bus.call(mintCall, { api_key, api_secret, clientAddress }, inbound.context)
    inbound.admit({ ...limiters.take('mintKey', key), allowed: true })
    const operatorId = operatorIdOf(token.operator.id)
    if (operatorId === null) throw new ServiceError('INTERNAL_ERROR', { cause: 'the operator has no handle' })
    inbound.attribute({ operatorId, mode: token.operator.mode, apiKey: api_key })
    return { status: 200, json: token }
  }
}
