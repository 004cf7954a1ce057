import { formatAmount } from '@pitboss/money/amount'
import { currencyDigits } from '@pitboss/money/currencies'
import { verifyBody, type VerifyBodyResult } from '@pitboss/signing/body-signature'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { setTimeout as delay } from 'node:timers/promises'
import { rawBody } from '../shared/raw-app.ts'
import type { Decision } from './decide.ts'
import type { Fault, FaultPlan } from './faults.ts'
import type { Wallet } from './open-wallet.ts'
import { type Operation, readWalletRequest, type WalletRequest } from './wallet-request.ts'

const OVERSIZED_BYTES = 128 * 1024

const httpStatusOfCode: Readonly<Record<string, number>> = {
  OK: 200,
  DUPLICATE: 200,
  INVALID_SIGNATURE: 401,
  INSUFFICIENT_FUNDS: 402,
  PLAYER_BLOCKED: 403,
  PLAYER_NOT_FOUND: 403,
  SELF_EXCLUDED: 403,
  KYC_REQUIRED: 403,
  TRANSACTION_NOT_FOUND: 404,
  TRANSACTION_CONFLICT: 409,
  TRANSACTION_ROLLED_BACK: 409,
}
const OTHER_REFUSAL_HTTP_STATUS = 422

export type AnswerCallDeps = {
  wallet: Wallet
  faults: FaultPlan
  calls: CallLog
  secret: () => string
  now: () => Date
}

/** An HTTP answer, or null when the socket is closed or kept silent instead. */
type Answer = { httpStatus: number; body: string; headers?: Record<string, string> } | null

/** Handles one call of docs/contract.md, section 6: signature, shape, fault, ledger, disk, answer, log. */
export function createAnswerCall({ wallet, faults, calls, secret, now }: AnswerCallDeps) {
  return async function answerCall(
    operation: Operation,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    const startedAt = performance.now()
    const bytes = rawBody(request.body)
    const at = now()
    const signed = verifyAny(header(request, 'x-signature'), (signature) =>
      verifyBody({
        ...{ secret: secret(), signature, rawBody: bytes, nowS: at.getTime() / 1000 },
        timestamp: header(request, 'x-timestamp'),
      }),
    )
    const read = signed.ok
      ? readWalletRequest(operation, bytes)
      : { ok: false as const, code: 'INVALID_SIGNATURE', message: signed.reason }
    const walletRequest = read.ok ? read.request : null
    const playerId = walletRequest?.playerId ?? null
    const transactionId =
      walletRequest !== null && 'transactionId' in walletRequest ? walletRequest.transactionId : null
    const fault = signed.ok ? faults.next({ operation, playerId, transactionId }) : null

    const decision =
      walletRequest !== null && (fault === null || fault.apply) ? wallet.handle(walletRequest) : null
    const commanded = fault?.rule.code
    const isRefused = fault?.apply !== true && isDefinite(commanded, fault?.rule.http_status)
    if (operation === 'debit' && transactionId !== null && isRefused && commanded !== undefined) {
      wallet.remember(transactionId, commanded)
    }
    await wallet.settled()
    const honest = read.ok ? honestAnswer(read.request, decision) : errorAnswer(read.code, read.message)
    const answer = fault === null ? honest : faultyAnswer(fault, honest)
    if (fault?.rule.delay_ms !== undefined) await delay(fault.rule.delay_ms)
    calls.add({
      at: at.toISOString(),
      operation,
      player_id: playerId,
      transaction_id: transactionId,
      request_id: header(request, 'x-request-id') ?? null,
      http_status: answer?.httpStatus ?? null,
      status: answer === null ? null : statusIn(answer.body),
      fault: fault?.rule.kind ?? null,
      duration_ms: Math.round(performance.now() - startedAt),
      headers: { ...request.headers, 'x-signature': undefined },
      body: bytes.toString('utf8'),
      answer: answer?.body ?? null,
    })
    if (answer !== null) {
      await reply
        .code(answer.httpStatus)
        .headers({ 'content-type': 'application/json', ...answer.headers })
        .send(answer.body)
      return
    }
    reply.hijack()
    if (fault?.rule.kind === 'drop') request.raw.socket.destroy()
  }
}

/**
 * While a rotation overlaps a call carries two signatures, separated by a space; one that is good is enough.
 */
function verifyAny(
  given: string | undefined,
  verify: (signature: string | undefined) => VerifyBodyResult,
): VerifyBodyResult {
  const [first, second] = given?.split(' ') ?? []
  const verified = verify(first)
  return verified.ok || second === undefined ? verified : verify(second)
}

/** Whether a commanded refusal says for certain that a debit is not taken. */
function isDefinite(code: string | undefined, httpStatus = 400): boolean {
  return code !== undefined && code !== 'TEMPORARY_ERROR' && httpStatus < 500 && httpStatus !== 429
}

function honestAnswer(request: WalletRequest, decision: Decision | null): Answer & object {
  const code = decision?.code ?? 'OK'
  const { currency } = request
  const balance =
    decision?.balanceMinor === undefined ||
    decision.balanceMinor === null ||
    currencyDigits(currency) === null
      ? {}
      : { balance: formatAmount(decision.balanceMinor, currency), currency }
  const own = decision?.walletTransactionId
  const transaction = own === undefined || own === null ? {} : { transactionId: own }
  const httpStatus = httpStatusOfCode[code] ?? OTHER_REFUSAL_HTTP_STATUS
  return { httpStatus, body: JSON.stringify({ status: code, ...balance, ...transaction }) }
}

function errorAnswer(code: string, message: string): Answer & object {
  const httpStatus = httpStatusOfCode[code] ?? OTHER_REFUSAL_HTTP_STATUS
  return { httpStatus, body: JSON.stringify({ status: code, message }) }
}

function faultyAnswer({ rule }: Fault, honest: Answer & object): Answer {
  const status = rule.http_status
  const changed = (change: object): Answer => ({
    httpStatus: status ?? honest.httpStatus,
    body: JSON.stringify({ ...Object(JSON.parse(honest.body)), ...change }),
  })
  switch (rule.kind) {
    case 'delay':
      return honest
    case 'drop':
    case 'hang':
      return null
    case 'http_error':
      return { httpStatus: status ?? 500, body: JSON.stringify({ message: 'commanded fault' }) }
    case 'refuse':
      return {
        httpStatus: status ?? 400,
        body: JSON.stringify({ status: rule.code, message: 'commanded refusal' }),
      }
    case 'rubbish':
      return {
        httpStatus: status ?? 200,
        body: '<html>not what you asked for',
        headers: { 'content-type': 'text/html' },
      }
    case 'no_status':
      return changed({ status: undefined })
    case 'wrong_currency':
      return changed({ currency: 'XTS' })
    case 'number_balance':
      return changed({ balance: 12.5 })
    case 'redirect':
      return { httpStatus: status ?? 302, body: '', headers: { location: '/somewhere-else' } }
    case 'oversized':
      return changed({ padding: 'x'.repeat(OVERSIZED_BYTES) })
  }
}

function statusIn(body: string): string | null {
  const found = /^\{"status":"([A-Z_]+)"/.exec(body)
  return found?.[1] ?? null
}

function header(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? undefined : value
}

const CALLS_KEPT_MAX = 5000
const ANSWER_CHARACTERS_KEPT_MAX = 4096

/**
 * One call that reached the wallet, in memory only. `http_status` and `status` are null when no answer went
 * out.
 */
type LoggedCall = {
  seq: number
  at: string
  operation: Operation
  player_id: string | null
  transaction_id: string | null
  request_id: string | null
  http_status: number | null
  status: string | null
  fault: string | null
  duration_ms: number
  headers: Record<string, string | string[] | undefined>
  body: string
  answer: string | null
}

export type CallLog = {
  add(call: Omit<LoggedCall, 'seq'>): void
  list(): readonly LoggedCall[]
  clear(): void
}

/** The last 5,000 calls with request and answer; sequence numbers go on after `clear`. */
export function createCallLog(): CallLog {
  let calls: LoggedCall[] = []
  let seq = 0
  return {
    add(call) {
      seq += 1
      const answer = call.answer?.slice(0, ANSWER_CHARACTERS_KEPT_MAX) ?? null
      calls.push({ ...call, seq, answer })
      if (calls.length > 2 * CALLS_KEPT_MAX) calls = calls.slice(-CALLS_KEPT_MAX)
    },
    list: () => calls.slice(-CALLS_KEPT_MAX),
    clear() {
      calls = []
    },
  }
}
