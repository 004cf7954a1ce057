import { type Scope, scopeKey } from '@pitboss/contracts/caller'
import type { walletCallback } from '@pitboss/contracts/calls/wallet'
import { parseJsonObject } from '@pitboss/contracts/json'
import { walletCallbackSchema } from '@pitboss/contracts/objects/wallet-call'
import { operatorIdOf, toEventEnvironment } from '@pitboss/contracts/primitives'
import { validatePart } from '@pitboss/contracts/validate-part'
import { invalidField, invalidFields, ServiceError } from '@pitboss/errors/service-error'
import { verifyBody } from '@pitboss/signing/body-signature'
import type { z } from 'zod'
import type { Settlement, WalletContext } from '../context.ts'
import { secretsAt } from '../rules/wallet.ts'
import type { MovementDocument } from '../storage/movement-document.ts'
import { applyMessage } from './apply-message.ts'

/** A callback as it arrived: `operator` and `environment` from the path, `rawBody` in base64. */
type Callback = z.output<typeof walletCallback.request>
type Callbacks = Pick<Settlement, 'wallets' | 'movements' | 'rules' | 'notify' | 'clock' | 'logger'> & {
  readonly signatures: Pick<WalletContext['signatures'], 'use'>
  readonly wake: WalletContext['wake']
}

/** Stands in for the secret of an operator without a wallet, so that the check takes as long. */
const placeholderSecret = 'wsec_00000000000000000000000000000000'

/**
 * Takes a wallet's signed hint that it knows a result now. The hint is never the result: the wallet is asked
 * again. The signature is checked first, in constant time, and is good once. @throws INVALID_SIGNATURE,
 * VALIDATION_ERROR, TRANSACTION_NOT_FOUND. Source: docs/contract.md, section 11
 */
export async function handleCallback(context: Callbacks, callback: Callback, requestId: string) {
  const { movements, logger, wake } = context
  const rawBody = Buffer.from(callback.rawBody, 'base64')
  const scope = await verifiedScope(context, callback, rawBody)
  const { transactionId: id, status } = readBody(rawBody)
  const movement = await movements.find(scope, id)
  if (movement === null) throw new ServiceError('TRANSACTION_NOT_FOUND')
  await makeDue(context, movement, scope)
  if (movement.status === 'PENDING') wake()
  const about = { ...scope, transaction_id: id, said: status, status: movement.status }
  logger.info({ ...about, request_id: requestId }, 'callback.received')
}

async function verifiedScope(context: Callbacks, callback: Callback, rawBody: Uint8Array): Promise<Scope> {
  const { wallets, clock, signatures } = context
  const { operator, environment, timestamp, signature } = callback
  const scope = scopeOfPath(operator, environment)
  const wallet = scope === null ? null : await wallets.open(scope)
  const now = clock.now()
  const secrets = wallet === null ? [placeholderSecret] : secretsAt(wallet, now)
  const verified = secrets.map((secret) =>
    verifyBody({
      ...{ secret, rawBody, nowS: now.getTime() / 1000 },
      ...{ timestamp: timestamp ?? undefined, signature: signature ?? undefined },
    }),
  )
  const isGood = verified.some(({ ok }) => ok)
  if (scope === null || wallet === null || !isGood) throw new ServiceError('INVALID_SIGNATURE')
  const fresh = await signatures.use(scopeKey(scope), timestamp ?? '', signature ?? '', now)
  if (!fresh) throw new ServiceError('INVALID_SIGNATURE')
  return scope
}

/** Makes a movement and its reversal due; a stake is ended by a reversal with its own record. */
async function makeDue(settlement: Callbacks, movement: MovementDocument, scope: Scope): Promise<void> {
  if (movement.status !== 'PENDING') return
  const at = settlement.clock.now()
  await applyMessage(settlement, movement, { kind: 'hinted', at })
  const { reversal } = movement
  const owed = reversal === null ? null : await settlement.movements.find(scope, reversal.transactionId)
  if (owed !== null) await applyMessage(settlement, owed, { kind: 'hinted', at })
}

function scopeOfPath(operator: string, environment: string): Scope | null {
  const operatorId = operator.startsWith('op_') ? operatorIdOf(operator) : null
  if (operatorId === null || (environment !== 'TEST' && environment !== 'LIVE')) return null
  return { operatorId, environment: toEventEnvironment(environment) }
}

function readBody(rawBody: Uint8Array) {
  const value = parseJsonObject(rawBody)
  if (value === null) throw invalidField('body', 'must be a JSON object with each field once')
  const part = validatePart(walletCallbackSchema, value, 'body')
  if (!part.ok) throw invalidFields(part.details)
  return part.value
}
