import { mintToken as mintCall } from '@pitboss/contracts/calls/auth'
import { operatorIdOf } from '@pitboss/contracts/operator-handle'
import { ServiceError } from '@pitboss/errors/service-error'
import { limiterAddress } from '../access/client-address.ts'
import type { Answer, Inbound } from '../http/inbound.ts'
import { hashedKey } from '../limits/hashed-key.ts'
import { mintBody } from '../routes/own-shapes.ts'
import type { HandlerDeps } from './handler-deps.ts'

/**
 * `POST /v1/auth/token`. The address was counted before the body. Two limits follow, each the key's: every try counts for the key from this
 * address, and every token for the key from anywhere. So guesses from one address stop, and the key's owner elsewhere is not locked out by them.
 */
export async function mintToken(deps: HandlerDeps, inbound: Inbound): Promise<Answer> {
  const { api_key, api_secret } = mintBody.parse(inbound.body)
  const { limiters, bus } = deps
  const address = limiterAddress(inbound.clientAddress)
  const key = hashedKey(api_key)
  const ofKey = limiters.peek('mintKey', key)
  if (!ofKey.allowed) inbound.admit(ofKey)
  inbound.admit(limiters.take('mintPair', `${key} ${address}`))
  const request = { api_key, api_secret, clientAddress: inbound.clientAddress }
  const token = await bus.call(mintCall, request, inbound.context)
  inbound.admit({ ...limiters.take('mintKey', key), allowed: true })
  const operatorId = operatorIdOf(token.operator.id)
  if (operatorId === null) throw new ServiceError('INTERNAL_ERROR', { cause: 'the operator has no handle' })
  inbound.attribute({ operatorId, mode: token.operator.mode, apiKey: api_key })
  return { status: 200, json: token }
}
