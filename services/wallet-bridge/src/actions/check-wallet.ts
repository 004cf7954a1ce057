import { randomUUID } from 'node:crypto'
import type { Scope } from '@pitboss/contracts/caller'
import type { walletCheckSchema } from '@pitboss/contracts/objects/wallet'
import { ServiceError } from '@pitboss/errors/service-error'
import { failureOfCode } from '@pitboss/outbound/describe-failure'
import { signatureTimestamp, signBody } from '@pitboss/signing/body-signature'
import type { z } from 'zod'
import type { WalletCallResult, WalletRequest } from '../clients/wallet-client.ts'
import type { WalletContext } from '../context.ts'
import { judgeExchange, readBalanceAnswer, type WalletExchange } from '../rules/wallet-answers.ts'
import type { Wallet } from '../storage/wallet-document.ts'

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
export async function checkWallet(
  { wallets, client, clock, newId }: WalletContext,
  scope: Scope,
  currency: string,
): Promise<WalletCheck> {
  const document = await wallets.find(scope)
  if (document === null) throw new ServiceError('NOT_FOUND')
  const wallet = wallets.openDocument(document)
  const body = JSON.stringify({
    playerId: checkPlayer,
    currency,
    sessionId: newId('ses'),
    gameId: randomUUID(),
  })
  const send = (extra: Partial<WalletRequest> = {}) =>
    client.call({
      wallet,
      operation: 'balance',
      body,
      requestId: newId('req'),
      timeoutMs: Math.min(wallet.timeoutMs, callTimeoutMaxMs),
      ...extra,
    })
  const good = await send()
  const reachable = checkReachable(wallet, good)
  if (!reachable.ok) return { ok: false, checks: [reachable] }
  const now = clock.now()
  const timestamp = signatureTimestamp(now)
  const stale = signatureTimestamp(new Date(now.getTime() - staleByS * 1000))
  const forged = await send({ timestamp, signature: signBody(`${wallet.secret}x`, timestamp, body) })
  const outdated = await send({ timestamp: stale, signature: signBody(wallet.secret, stale, body) })
  const rollback = { operation: 'rollback', body: rollbackBody(newId, currency, now) } as const
  const first = await send(rollback)
  const second = await send(rollback)
  const checks = [
    reachable,
    checkShape(good),
    checkSignature(good),
    checkRefused('bad_signature_refused', forged, 'Compare x-signature before you do anything else.'),
    checkClock(good, now),
    checkRefused(
      'old_timestamp_refused',
      outdated,
      `Refuse an x-timestamp that is more than ${clockToleranceS} s away from your clock.`,
    ),
    checkBalance(good, currency),
    checkIdempotency(first, second, currency),
    checkReadable([good, first, second], currency),
  ]
  return { ok: checks.every(({ ok }) => ok), checks }
}

function rollbackBody(newId: (prefix: string) => string, currency: string, now: Date): string {
  return JSON.stringify({
    transactionId: newId('rbk'),
    referenceTransactionId: newId('bet'),
    reference: newId('txn'),
    type: 'ROLLBACK',
    roundId: randomUUID(),
    gameId: randomUUID(),
    game: 'dice',
    sessionId: newId('ses'),
    playerId: checkPlayer,
    currency,
    amount: '0.01',
    freeBet: false,
    roundClosed: true,
    occurredAt: now.toISOString(),
  })
}

function checkReachable(wallet: Wallet, { exchange, latencyMs }: WalletCallResult): Check {
  const withinMs = Math.min(wallet.timeoutMs, callTimeoutMaxMs)
  const expected = `an answer from ${wallet.url}/balance within ${withinMs} ms`
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

function checkShape({ exchange }: WalletCallResult): Check {
  return judged(
    'answer_shape',
    statusOf(exchange) !== null,
    'a JSON object with a text field "status", each field once, at most 64 KiB',
    describe(exchange),
    'Answer every call with { "status": "OK" | "<CODE>", … } and content-type application/json.',
  )
}

function checkSignature({ exchange }: WalletCallResult): Check {
  return judged(
    'signature_accepted',
    playerCodes.has(statusOf(exchange) ?? ''),
    'a correctly signed call is answered OK, or with a code about the player',
    describe(exchange),
    'x-signature is the hex HMAC-SHA256 of x-timestamp + "." + the raw body, under the whole secret, wsec_ included. Is the newest secret installed, and does your clock run right?',
  )
}

function checkRefused(name: string, { exchange }: WalletCallResult, hint: string): Check {
  const ok =
    exchange.kind === 'answer' &&
    exchange.httpStatus < 500 &&
    exchange.httpStatus !== 429 &&
    statusOf(exchange) !== 'OK' &&
    (exchange.httpStatus >= 400 || statusOf(exchange) !== null)
  return judged(name, ok, 'refused with http status 401 (or another 4xx)', describe(exchange), hint)
}

function checkClock({ exchange }: WalletCallResult, now: Date): Check {
  const date = exchange.kind === 'answer' ? exchange.date : null
  const theirs = date === null ? Number.NaN : Date.parse(date)
  const apartS = Math.round(Math.abs(theirs - now.getTime()) / 1000)
  const ok = Number.isNaN(theirs) || apartS <= 60
  return judged(
    'clock',
    ok,
    'a clock at most 60 s away from ours',
    Number.isNaN(theirs) ? 'the answer has no Date header' : `${apartS} s away`,
    'Let the machine synchronise its clock: signatures are valid for 300 s only.',
  )
}

function checkBalance({ exchange }: WalletCallResult, currency: string): Check {
  const reading = readBalanceAnswer(currency, exchange)
  const ok = reading.kind === 'balance' || (reading.kind === 'refused' && playerCodes.has(reading.walletCode))
  return judged(
    'balance_type',
    ok,
    `a decimal string in ${currency}, such as "10.00"`,
    reading.kind === 'balance' ? `"${reading.amount}"` : describeReading(reading),
    'Send the balance as text with at most the decimals of its currency, and the currency that was asked for; never a JSON number.',
  )
}

function checkIdempotency(first: WalletCallResult, second: WalletCallResult, currency: string): Check {
  const answers = [first, second].map(({ exchange }) => judgeExchange('rollback', currency, exchange))
  const ok = answers.every(({ kind }) => kind === 'success')
  return judged(
    'idempotency',
    ok,
    'a rollback of a movement that the wallet never saw is answered OK, DUPLICATE or TRANSACTION_NOT_FOUND, and so is its repeat',
    `${describe(first.exchange)}, then ${describe(second.exchange)}`,
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

function describeReading(reading: Exclude<ReturnType<typeof readBalanceAnswer>, { kind: 'balance' }>) {
  return reading.kind === 'refused' ? `status ${reading.walletCode}` : reading.reason
}
