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
const timeoutRemedy = 'Answer faster, end the answer, or raise timeout_ms.'
const unreachableRemedy = 'Check the address, the certificate and that the wallet runs and lets us in.'
const refused = 'refused with http status 401 (or another 4xx)'
/** The codes of a wallet for a player that it has never seen; it accepted the signature then. */
const playerCodes = new Set(['OK', 'PLAYER_NOT_FOUND', 'PLAYER_BLOCKED', 'SELF_EXCLUDED', 'KYC_REQUIRED'])

/** Calls a wallet five times at most, without moving money, and describes its faults. @throws NOT_FOUND */
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
  const exchanges = { good, forged, outdated, rollbacks: [await send(rollback), await send(rollback)] }
  const checks = [reachable, ...judgeAnswers(exchanges, currency, now)]
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
  const name = 'reachable'
  if (exchange.kind === 'answer') {
    const actual = `http status ${exchange.httpStatus} after ${latencyMs} ms`
    return { name, ok: true, expected, actual, hint: null }
  }
  const remedy = exchange.kind === 'no-answer' ? failureOfCode(exchange.reason)?.remedy : timeoutRemedy
  return { name, ok: false, expected, actual: describe(exchange), hint: remedy ?? unreachableRemedy }
}

/** What each check expects, and what its owner can do when it fails; `<currency>` stands for the account's. */
const checkTexts = {
  answer_shape: [
    'a JSON object with a text field "status", each field once, at most 64 KiB',
    'Answer every call with { "status": "OK" | "<CODE>", … } and content-type application/json.',
  ],
  signature_accepted: [
    'a correctly signed call is answered OK, or with a code about the player',
    'x-signature is the hex HMAC-SHA256 of x-timestamp + "." + the raw body, under the whole secret, wsec_ included. Is the newest secret installed, and does your clock run right?',
  ],
  bad_signature_refused: [refused, 'Compare x-signature before you do anything else.'],
  clock: [
    'a clock at most 60 s away from ours',
    'Let the machine synchronise its clock: signatures are valid for 300 s only.',
  ],
  old_timestamp_refused: [
    refused,
    `Refuse an x-timestamp that is more than ${clockToleranceS} s away from your clock.`,
  ],
  balance_type: [
    'a decimal string in <currency>, such as "10.00"',
    'Send the balance as text with at most the decimals of its currency, and the currency that was asked for; never a JSON number.',
  ],
  idempotency: [
    'a rollback of a movement that the wallet never saw is answered OK, DUPLICATE or TRANSACTION_NOT_FOUND, and so is its repeat',
    'Remember the rolled back transactionId, so that a debit that comes later is refused with TRANSACTION_ROLLED_BACK, and answer repeats alike.',
  ],
  fields_readable: [
    'a balance that is a decimal string and a transactionId of 1 to 128 characters, or neither',
    'What cannot be read is not kept: movements would lack the balance, or your own id of them.',
  ],
} as const

type Answers = Readonly<Record<'good' | 'forged' | 'outdated', WalletCallResult>> & {
  readonly rollbacks: readonly WalletCallResult[]
}

/** Judges the answers of a wallet that can be reached. */
function judgeAnswers({ good, forged, outdated, rollbacks }: Answers, currency: string, now: Date): Check[] {
  const { exchange } = good
  const seen = describe(exchange)
  const status = statusOf(exchange)
  const date = exchange.kind === 'answer' ? exchange.date : null
  const apartS = Math.round(Math.abs(Date.parse(date ?? '') - now.getTime()) / 1000)
  const apart = Number.isNaN(apartS) ? 'the answer has no Date header' : `${apartS} s away`
  const reading = readBalanceAnswer(currency, exchange)
  const isPlayerCode = reading.kind === 'refused' && playerCodes.has(reading.walletCode)
  const repeats = rollbacks.map((one) => judgeExchange('rollback', currency, one.exchange))
  const isDoneTwice = repeats.every(({ kind }) => kind === 'success')
  const judgements = [judgeExchange('rollback', currency, exchange), ...repeats]
  const unreadable = judgements.flatMap((one) => (one.kind === 'success' ? one.unreadable : []))
  const found =
    unreadable.length === 0
      ? 'nothing that cannot be read'
      : `cannot be read: ${[...new Set(unreadable)].join(', ')}`
  const check = (name: keyof typeof checkTexts, ok: boolean, actual: string): Check => {
    const [expected, hint] = checkTexts[name]
    return { name, ok, expected: expected.replace('<currency>', currency), actual, hint: ok ? null : hint }
  }
  return [
    check('answer_shape', status !== null, seen),
    check('signature_accepted', playerCodes.has(status ?? ''), seen),
    check('bad_signature_refused', isRefused(forged), describe(forged.exchange)),
    check('clock', Number.isNaN(apartS) || apartS <= 60, apart),
    check('old_timestamp_refused', isRefused(outdated), describe(outdated.exchange)),
    check('balance_type', reading.kind === 'balance' || isPlayerCode, describeReading(reading)),
    check('idempotency', isDoneTwice, rollbacks.map((one) => describe(one.exchange)).join(', then ')),
    check('fields_readable', unreadable.length === 0, found),
  ]
}

function isRefused({ exchange }: WalletCallResult): boolean {
  const httpStatus = exchange.kind === 'answer' ? exchange.httpStatus : 500
  const status = statusOf(exchange)
  const isClear = httpStatus < 500 && httpStatus !== 429 && (httpStatus >= 400 || status !== null)
  return isClear && status !== 'OK'
}

const statusOf = (exchange: WalletExchange) => judgeExchange('credit', 'USD', exchange).walletCode

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
