import { randomUUID } from 'node:crypto'
import type { Scope } from '@pitboss/contracts/caller'
import type { walletCheckSchema } from '@pitboss/contracts/objects/wallet'
import { failureOfCode } from '@pitboss/outbound/describe-failure'
import { signatureTimestamp, signBody } from '@pitboss/signing/body-signature'
import type { z } from 'zod'
import type { WalletCallResult, WalletRequest } from '../clients/wallet-client.ts'
import type { WalletContext } from '../context.ts'
import { judgeExchange, readBalanceAnswer, type WalletExchange } from '../rules/wallet-answers.ts'
import { findWallet } from './operator-wallets.ts'

type WalletCheck = z.infer<typeof walletCheckSchema>
type Check = WalletCheck['checks'][number]

const checkPlayer = 'pitboss-check'
/** Five calls of this length fit into the time that the dashboard waits. */
const callTimeoutMaxMs = 11_000
const clockToleranceS = 300
const staleByS = 3600
/** The codes of a wallet for a player that it has never seen; it accepted the signature then. */
const playerCodes = new Set(['OK', 'PLAYER_NOT_FOUND', 'PLAYER_BLOCKED', 'SELF_EXCLUDED', 'KYC_REQUIRED'])

/**
 * Calls a wallet, without moving money, and describes its faults. Takes the timeouts of five calls at most.
 * @throws ServiceError NOT_FOUND. Source: docs/contract.md, section 3
 */
export async function checkWallet(context: WalletContext, scope: Scope, currency: string) {
  const { wallets, client, clock, newId } = context
  const wallet = wallets.openDocument(await findWallet(context, scope))
  const timeoutMs = Math.min(wallet.timeoutMs, callTimeoutMaxMs)
  const player = { playerId: checkPlayer, currency, sessionId: newId('ses'), gameId: randomUUID() }
  const body = JSON.stringify(player)
  const send = (extra: Partial<WalletRequest> = {}) =>
    client.call({ wallet, operation: 'balance', body, requestId: newId('req'), timeoutMs, ...extra })
  const good = await send()
  const reachable = checkReachable(wallet.url, timeoutMs, good)
  if (!reachable.ok) return { ok: false, checks: [reachable] }
  const now = clock.now()
  const timestamp = signatureTimestamp(now)
  const stale = signatureTimestamp(new Date(now.getTime() - staleByS * 1000))
  const forged = await send({ timestamp, signature: signBody(`${wallet.secret}x`, timestamp, body) })
  const outdated = await send({ timestamp: stale, signature: signBody(wallet.secret, stale, body) })
  const rollback = { operation: 'rollback', body: rollbackBody(newId, currency, now) } as const
  const rollbacks = [await send(rollback), await send(rollback)]
  const checks = [
    reachable,
    ...checkAnswer(good.exchange),
    checkRefused('bad_signature_refused', forged, 'Compare x-signature before you do anything else.'),
    checkClock(good, now),
    checkRefused(
      'old_timestamp_refused',
      outdated,
      `Refuse an x-timestamp that is more than ${clockToleranceS} s away from your clock.`,
    ),
    checkBalance(good, currency),
    checkIdempotency(rollbacks, currency),
    checkReadable([good, ...rollbacks], currency),
  ]
  return { ok: checks.every(({ ok }) => ok), checks }
}

function rollbackBody(newId: (prefix: string) => string, currency: string, now: Date): string {
  return JSON.stringify({
    ...{ transactionId: newId('rbk'), referenceTransactionId: newId('bet'), reference: newId('txn') },
    ...{ type: 'ROLLBACK', roundId: randomUUID(), gameId: randomUUID(), game: 'dice' },
    ...{ sessionId: newId('ses'), playerId: checkPlayer, currency, amount: '0.01' },
    ...{ freeBet: false, roundClosed: true, occurredAt: now.toISOString() },
  })
}

function checkReachable(url: string, timeoutMs: number, { exchange, latencyMs }: WalletCallResult): Check {
  const expected = `an answer from ${url}/balance within ${timeoutMs} ms`
  if (exchange.kind === 'answer') {
    return judged('reachable', true, expected, `http status ${exchange.httpStatus} after ${latencyMs} ms`)
  }
  const hint =
    exchange.kind === 'timeout'
      ? 'Answer faster, end the answer, or raise timeout_ms.'
      : (failureOfCode(exchange.reason)?.remedy ??
        'Check the address, the certificate and that the wallet runs and lets us in.')
  return judged('reachable', false, expected, describe(exchange), hint)
}

/** A check with its hint, which is shown only when it failed. */
function judged(name: string, ok: boolean, expected: string, actual: string, hint = ''): Check {
  return { name, ok, expected, actual, hint: ok ? null : hint }
}

function checkAnswer(exchange: WalletExchange): Check[] {
  const status = statusOf(exchange)
  return [
    judged(
      'answer_shape',
      status !== null,
      'a JSON object with a text field "status", each field once, at most 64 KiB',
      describe(exchange),
      'Answer every call with { "status": "OK" | "<CODE>", … } and content-type application/json.',
    ),
    judged(
      'signature_accepted',
      playerCodes.has(status ?? ''),
      'a correctly signed call is answered OK, or with a code about the player',
      describe(exchange),
      'x-signature is the hex HMAC-SHA256 of x-timestamp + "." + the raw body, under the whole secret, wsec_ included. Is the newest secret installed, and does your clock run right?',
    ),
  ]
}

function checkRefused(name: string, { exchange }: WalletCallResult, hint: string): Check {
  const httpStatus = exchange.kind === 'answer' ? exchange.httpStatus : 500
  const status = statusOf(exchange)
  const isClear = httpStatus < 500 && httpStatus !== 429 && (httpStatus >= 400 || status !== null)
  const ok = isClear && status !== 'OK'
  return judged(name, ok, 'refused with http status 401 (or another 4xx)', describe(exchange), hint)
}

function checkClock({ exchange }: WalletCallResult, now: Date): Check {
  const date = exchange.kind === 'answer' ? exchange.date : null
  const apartS = Math.round(Math.abs(Date.parse(date ?? '') - now.getTime()) / 1000)
  return judged(
    'clock',
    Number.isNaN(apartS) || apartS <= 60,
    'a clock at most 60 s away from ours',
    Number.isNaN(apartS) ? 'the answer has no Date header' : `${apartS} s away`,
    'Let the machine synchronise its clock: signatures are valid for 300 s only.',
  )
}

function checkBalance({ exchange }: WalletCallResult, currency: string): Check {
  const reading = readBalanceAnswer(currency, exchange)
  return judged(
    'balance_type',
    reading.kind === 'balance' || (reading.kind === 'refused' && playerCodes.has(reading.walletCode)),
    `a decimal string in ${currency}, such as "10.00"`,
    describeReading(reading),
    'Send the balance as text with at most the decimals of its currency, and the currency that was asked for; never a JSON number.',
  )
}

function checkIdempotency(rollbacks: readonly WalletCallResult[], currency: string): Check {
  const answers = rollbacks.map(({ exchange }) => judgeExchange('rollback', currency, exchange))
  return judged(
    'idempotency',
    answers.every(({ kind }) => kind === 'success'),
    'a rollback of a movement that the wallet never saw is answered OK, DUPLICATE or TRANSACTION_NOT_FOUND, and so is its repeat',
    rollbacks.map(({ exchange }) => describe(exchange)).join(', then '),
    'Remember the rolled back transactionId, so that a debit that comes later is refused with TRANSACTION_ROLLED_BACK, and answer repeats alike.',
  )
}

function checkReadable(results: readonly WalletCallResult[], currency: string): Check {
  const found = results.flatMap(({ exchange }) => {
    const judgement = judgeExchange('rollback', currency, exchange)
    return judgement.kind === 'success' ? judgement.unreadable : []
  })
  return judged(
    'fields_readable',
    found.length === 0,
    'a balance that is a decimal string and a transactionId of 1 to 128 characters, or neither',
    found.length === 0 ? 'nothing that cannot be read' : `cannot be read: ${[...new Set(found)].join(', ')}`,
    'What cannot be read is not kept: movements would lack the balance, or your own id of them.',
  )
}

function statusOf(exchange: WalletExchange): string | null {
  return judgeExchange('credit', 'USD', exchange).walletCode
}

function describe(exchange: WalletExchange): string {
  if (exchange.kind === 'timeout') {
    const { begunWith } = exchange
    const began = begunWith === undefined ? '' : `: http status ${begunWith} came, and its body did not end`
    return `no complete answer in time${began}`
  }
  if (exchange.kind === 'no-answer') return failureOfCode(exchange.reason)?.words ?? exchange.reason
  const status = statusOf(exchange)
  return `http status ${exchange.httpStatus}, ${status === null ? 'no usable status' : `status ${status}`}`
}

function describeReading(reading: ReturnType<typeof readBalanceAnswer>) {
  if (reading.kind === 'balance') return `"${reading.amount}"`
  return reading.kind === 'refused' ? `status ${reading.walletCode}` : reading.reason
}
