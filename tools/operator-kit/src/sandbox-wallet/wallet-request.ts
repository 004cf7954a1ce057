import { AmountError, parseAmount } from '@pitboss/money/amount'
import { currencyDigits } from '@pitboss/money/currencies'
import { z } from 'zod'

export type Operation = 'balance' | 'debit' | 'credit' | 'rollback'

/** A movement as the service asks for it. Source: docs/contract.md, section 6; unknown fields are ignored. */
export type MovementRequest = {
  readonly operation: 'debit' | 'credit' | 'rollback'
  readonly transactionId: string
  readonly referenceTransactionId: string | null
  readonly reference: string
  readonly type: string
  readonly roundId: string
  readonly gameId: string
  readonly playerId: string
  readonly currency: string
  readonly amountMinor: bigint
}

export type BalanceRequest = {
  readonly operation: 'balance'
  readonly playerId: string
  readonly currency: string
}

export type WalletRequest = MovementRequest | BalanceRequest

const id = z.string().min(1).max(128)

const balanceBody = z.object({ playerId: id, currency: z.string() })

const movementBody = z.object({
  transactionId: id,
  referenceTransactionId: id.nullish(),
  reference: z.string().max(128),
  type: z.enum(['BET', 'WIN', 'REFUND', 'ROLLBACK']),
  roundId: z.uuid(),
  gameId: z.uuid(),
  playerId: id,
  currency: z.string(),
  amount: z.string(),
})

const operationOfType = { BET: 'debit', WIN: 'credit', REFUND: 'credit', ROLLBACK: 'rollback' } as const

export type ReadRequest =
  | { ok: true; request: WalletRequest }
  | { ok: false; code: 'INVALID_REQUEST' | 'CURRENCY_MISMATCH'; message: string }

/** Reads the exact bytes of a wallet call. Never throws. */
export function readWalletRequest(operation: Operation, bytes: Buffer): ReadRequest {
  const json = parseJson(bytes)
  if (json === undefined) return { ok: false, code: 'INVALID_REQUEST', message: 'the body is not JSON' }
  return operation === 'balance' ? readBalance(json) : readMovement(operation, json)
}

function readBalance(json: unknown): ReadRequest {
  const parsed = balanceBody.safeParse(json)
  if (!parsed.success) return { ok: false, code: 'INVALID_REQUEST', message: z.prettifyError(parsed.error) }
  return (
    unknownCurrency(parsed.data.currency) ?? { ok: true, request: { operation: 'balance', ...parsed.data } }
  )
}

function readMovement(operation: 'debit' | 'credit' | 'rollback', json: unknown): ReadRequest {
  const parsed = movementBody.safeParse(json)
  if (!parsed.success) return { ok: false, code: 'INVALID_REQUEST', message: z.prettifyError(parsed.error) }
  const { amount, ...body } = parsed.data
  if (operationOfType[body.type] !== operation) {
    return {
      ok: false,
      code: 'INVALID_REQUEST',
      message: `type ${body.type} does not belong to ${operation}`,
    }
  }
  const referenceTransactionId = body.referenceTransactionId ?? null
  if (operation === 'rollback' && referenceTransactionId === null) {
    return { ok: false, code: 'INVALID_REQUEST', message: 'a rollback names its referenceTransactionId' }
  }
  const wrongCurrency = unknownCurrency(body.currency)
  if (wrongCurrency !== null) return wrongCurrency
  try {
    const amountMinor = parseAmount(amount, body.currency)
    return { ok: true, request: { ...body, operation, referenceTransactionId, amountMinor } }
  } catch (error) {
    if (!(error instanceof AmountError)) throw error
    return { ok: false, code: 'INVALID_REQUEST', message: `amount ${error.message}` }
  }
}

function unknownCurrency(currency: string): ReadRequest | null {
  if (currencyDigits(currency) !== null) return null
  return { ok: false, code: 'CURRENCY_MISMATCH', message: `${currency} is no currency of this wallet` }
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}
