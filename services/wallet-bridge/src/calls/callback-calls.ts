import { operatorIdOf } from '@pitboss/contracts/operator-handle'
import { walletCallback } from '@pitboss/contracts/calls/wallet'
import type { Scope } from '@pitboss/contracts/caller'
import { transactionId } from '@pitboss/contracts/primitives'
import { type CallHandler, handler } from '@pitboss/bus/serve-calls'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Clock } from '@pitboss/runtime/clock'
import { verifyBody } from '@pitboss/signing/verify-body'
import type { Logger } from 'pino'
import { z } from 'zod'
import { parseJsonObject } from '@pitboss/contracts/parse-json-object'
import type { ApplyMessage } from '../actions/apply-message.ts'
import type { CallbackSignatures } from '../storage/callback-signatures.ts'
import { walletKeyOf } from '../rules/movement-keys.ts'
import type { MovementDocument } from '../storage/movement-document.ts'
import type { MovementStore } from '../storage/movements.ts'
import type { Wallets } from '../storage/wallet-document.ts'

const callbackBody = z.strictObject({
  transactionId,
  status: z.enum(['SUCCESS', 'FAILED', 'UNKNOWN']),
})

/** Against which an unknown operator's signature is checked, so that it costs the same work. */
const nobodysSecret = 'wsec_00000000000000000000000000000000'

/**
 * A wallet's signed hint that it knows a result now. It never is a result: the movement becomes due and the wallet is asked.
 * The signature comes first, is compared in constant time and counts once. Source: contract section 11.
 */
export function callbackCalls({
  wallets,
  movements,
  signatures,
  apply,
  clock,
  wake,
  logger,
}: {
  wallets: Wallets
  movements: MovementStore
  signatures: CallbackSignatures
  apply: ApplyMessage
  clock: Clock
  wake: () => void
  logger: Logger
}): CallHandler[] {
  return [
    handler(walletCallback, async (request, { requestId }) => {
      const rawBody = Buffer.from(request.rawBody, 'base64')
      const scope = await verifiedScope(request, rawBody)
      const { transactionId: id, status } = readBody(rawBody)
      const movement = await movements.find(scope, id)
      if (movement === null) throw new ServiceError('TRANSACTION_NOT_FOUND')
      await hint(movement, scope)
      logger.info(
        { ...scope, transaction_id: id, said: status, status: movement.status, request_id: requestId },
        'callback.received',
      )
      return null
    }),
  ]

  async function verifiedScope(
    {
      operator,
      environment,
      timestamp,
      signature,
    }: { operator: string; environment: string; timestamp: string | null; signature: string | null },
    rawBody: Uint8Array,
  ): Promise<Scope> {
    const scope = scopeOfPath(operator, environment)
    const wallet = scope === null ? null : await wallets.open(scope)
    const now = clock.now()
    const verified = verifyBody({
      secret: wallet?.secret ?? nobodysSecret,
      timestamp: timestamp ?? undefined,
      signature: signature ?? undefined,
      rawBody,
      nowS: now.getTime() / 1000,
    })
    if (scope === null || wallet === null || !verified.ok) throw new ServiceError('INVALID_SIGNATURE')
    const fresh = await signatures.use(walletKeyOf(scope), timestamp ?? '', signature ?? '', now)
    if (!fresh) throw new ServiceError('INVALID_SIGNATURE')
    return scope
  }

  /** A stake whose rollback has a record of its own waits for that one. */
  async function hint(movement: MovementDocument, scope: Scope): Promise<void> {
    if (movement.status !== 'PENDING') return
    const at = clock.now()
    await apply(movement, { kind: 'hinted', at })
    const { reversal } = movement
    const owed = reversal === null ? null : await movements.find(scope, reversal.transactionId)
    if (owed !== null) await apply(owed, { kind: 'hinted', at })
    wake()
  }
}

function scopeOfPath(operator: string, environment: string): Scope | null {
  const operatorId = operator.startsWith('op_') ? operatorIdOf(operator) : null
  if (operatorId === null || (environment !== 'TEST' && environment !== 'LIVE')) return null
  return { operatorId, environment: environment === 'LIVE' ? 'LIVE' : 'SANDBOX' }
}

function readBody(rawBody: Uint8Array): z.infer<typeof callbackBody> {
  const value = parseJsonObject(rawBody)
  if (value === null) {
    throw new ServiceError('VALIDATION_ERROR', {
      message: 'The body is not a JSON object with each field once.',
      details: [{ path: '', message: 'must be a JSON object with each field once' }],
    })
  }
  const parsed = callbackBody.safeParse(value)
  if (parsed.success) return parsed.data
  const details = parsed.error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: key, message: 'is not known here' }))
      : [{ path: issue.path.map(String).join('.'), message: issue.message }],
  )
  throw new ServiceError('VALIDATION_ERROR', { details })
}
