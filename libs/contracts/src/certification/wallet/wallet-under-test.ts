import { AmountError, formatAmount, parseAmount } from '@pitboss/money/amount'
import { parseJsonObject } from '../../json.ts'
import { isNearSuccess, listedRefusals, unclearStatuses } from '../../wallet-words.ts'
import type { CertificationEdges } from '../exchange.ts'
import type { Peer } from '../http-cases.ts'
import { CaseFailure, type CertificationCase, expect } from '../run-cases.ts'

type WalletOperation = 'balance' | 'debit' | 'credit' | 'rollback'
export type MovementType = 'BET' | 'WIN' | 'REFUND' | 'ROLLBACK'
export type WalletBody = Readonly<Record<string, unknown>>

export type WalletAnswer = {
  httpStatus: number
  /** `status` of the answer's body, null when the body is no JSON object with a status. */
  status: string | null
  /** Balance in minor units, null when there is none or it is no amount of the currency. */
  balanceMinor: bigint | null
  /** Fields of the answer as they came. */
  fields: ReadonlyMap<string, unknown>
  body: Uint8Array
  contentType: string
  latencyMs: number
}

export type SendOptions = {
  secret?: string
  /** Shifts the timestamp that is signed and sent, in seconds. */
  clockShiftS?: number
  /** Changes the request after signing. */
  tamper?: { body?: string; headers?: Record<string, string>; without?: string }
}

export type WalletUnderTestOptions = CertificationEdges & {
  secret: string
  playerId: string
  currency: string
  timeoutMs: number
  blockedPlayerId: string | null
  unknownPlayerId: string | null
}

/** The wallet that is certified, with everything the cases need to talk to it. */
export type WalletUnderTest = WalletUnderTestOptions &
  Peer & {
    /** A movement body as the service would send it; a fresh transaction unless `change` names one. */
    body(type: MovementType, amountMinor: bigint, change?: WalletBody): WalletBody
    /** Sends and reads; a broken connection or time-out fails the case. */
    send(operation: WalletOperation, body: WalletBody | string, options?: SendOptions): Promise<WalletAnswer>
    /** Asks for the balance of the test player. */
    askBalance(): Promise<WalletAnswer>
    /** The balance in minor units; an answer without one fails the case. */
    balance(): Promise<bigint>
    amount(minor: bigint): string
  }

const sessionId = 'ses_certification'
const gameId = '0197c0de-0000-7000-8000-00000000d1ce'

export type WalletCase = CertificationCase<WalletUnderTest>

export function createWalletUnderTest(options: WalletUnderTestOptions): WalletUnderTest {
  const { secret, playerId, currency, timeoutMs, post, now, newUuid } = options
  const { signBody, signatureTimestamp } = options.signing
  const newHex = () => newUuid().replaceAll('-', '')

  function exchange(operation: WalletOperation, body: WalletBody | string, sendOptions: SendOptions = {}) {
    const { tamper = {}, clockShiftS = 0 } = sendOptions
    const signed = typeof body === 'string' ? body : JSON.stringify(body)
    const timestamp = signatureTimestamp(new Date(now().getTime() + clockShiftS * 1000))
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      'x-timestamp': timestamp,
      'x-signature': signBody(sendOptions.secret ?? secret, timestamp, signed),
      'x-request-id': `req_${newHex()}`,
      ...tamper.headers,
    }
    if (tamper.without !== undefined) delete headers[tamper.without]
    const sent = tamper.body ?? signed
    return post({ path: `/${operation}`, headers, body: sent, timeoutMs })
  }

  async function send(
    operation: WalletOperation,
    body: WalletBody | string,
    sendOptions?: SendOptions,
  ): Promise<WalletAnswer> {
    const exchanged = await exchange(operation, body, sendOptions)
    if (exchanged.kind === 'failure')
      throw new CaseFailure(`${operation}: ${exchanged.error}`, exchanged.remedy)
    const fields = new Map(Object.entries(parseJsonObject(exchanged.body) ?? {}))
    const status = fields.get('status')
    return {
      httpStatus: exchanged.httpStatus,
      status: typeof status === 'string' ? status : null,
      balanceMinor: readBalance(fields.get('balance'), currency),
      fields,
      body: exchanged.body,
      contentType: exchanged.contentType,
      latencyMs: exchanged.latencyMs,
    }
  }

  const question = { playerId, currency, sessionId, gameId }
  const askBalance = () => send('balance', question)

  return {
    ...options,
    what: 'wallet',
    probe: () => exchange('balance', question),
    send,
    body(type, amountMinor, change = {}) {
      const prefix = { BET: 'bet', WIN: 'win', REFUND: 'ref', ROLLBACK: 'rbk' }[type]
      return {
        transactionId: `${prefix}_cert_${newHex()}`,
        reference: `txn_cert_${newHex()}`,
        type,
        roundId: newUuid(),
        gameId,
        game: 'dice',
        sessionId,
        playerId,
        currency,
        amount: formatAmount(amountMinor, currency),
        freeBet: false,
        roundClosed: type !== 'BET',
        occurredAt: now().toISOString(),
        ...change,
      }
    },
    askBalance,
    async balance() {
      const answer = await askBalance()
      expect(
        answer.httpStatus === 200 && answer.status === 'OK',
        `balance: expected OK, got ${describe(answer)}`,
        remedyOf(answer),
      )
      if (answer.balanceMinor === null) {
        throw new CaseFailure(
          `balance: expected a decimal string in ${currency}, got ${JSON.stringify(answer.fields.get('balance'))}`,
          'Send the balance as text with at most the decimals of its currency, such as "10.00"; never as a JSON number.',
        )
      }
      return answer.balanceMinor
    },
    amount: (minor) => formatAmount(minor, currency),
  }
}

/** The answer in a few words. */
export function describe(answer: WalletAnswer): string {
  const { httpStatus, status } = answer
  const unreadable = whyUnreadable(answer)
  const fault = unreadable === null ? '' : ` (the body is ${unreadable})`
  return `HTTP ${httpStatus} with ${status === null ? `no status${fault}` : `status ${status}`}`
}

/** Why a body gives no fields; null when it gives them. */
export function whyUnreadable({ body, fields, contentType }: WalletAnswer): string | null {
  if (fields.size > 0) return null
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    return `not UTF-8${/charset/i.test(contentType) ? `, with the content-type ${contentType}` : ''}`
  }
  if (text === '') return 'empty'
  try {
    JSON.parse(text)
    return 'no JSON object, or one with a field twice'
  } catch {
    return 'not JSON'
  }
}

/** What to do about an answer that says no word of the contract, where that is the fault. */
export function remedyOf(answer: WalletAnswer): string | null {
  const { httpStatus, status } = answer
  if (httpStatus >= 300 && httpStatus < 400)
    return 'Redirects are not followed: name the address that answers itself.'
  if (whyUnreadable(answer) !== null)
    return 'Answer every call with a JSON object in UTF-8, each field once, with its result in the text field "status".'
  if (status !== null && isNearSuccess(status))
    return `${status} is no clear answer to a stake: we ask again, and take it back. Say OK or DUPLICATE, in capitals, or refuse with a word of the contract.`
  if (unclearStatuses.has(httpStatus) && !isListed(status))
    return `HTTP ${httpStatus} is no clear answer unless its status is a word of the contract: we ask again, and take the stake back. Refuse with 400 and a word of the contract.`
  return null
}

function isListed(status: string | null): boolean {
  return status === 'DUPLICATE' || (status !== null && listedRefusals.has(status))
}

function readBalance(value: unknown, currency: string): bigint | null {
  try {
    return parseAmount(value, currency)
  } catch (error) {
    if (error instanceof AmountError) return null
    throw error
  }
}

const idCharactersMax = 128

/** `OK` or `DUPLICATE` with HTTP 200 and a string balance, or `DUPLICATE` with a 4xx. */
export function expectSuccess(what: string, answer: WalletAnswer): void {
  const { httpStatus, status } = answer
  const isRepeat =
    status === 'DUPLICATE' &&
    (httpStatus === 200 || (httpStatus >= 400 && httpStatus < 500 && httpStatus !== 429))
  const accepted = isRepeat || (httpStatus === 200 && status === 'OK')
  const wanted = 'HTTP 200 with status OK or DUPLICATE'
  expect(accepted, `${what}: expected ${wanted}, got ${describe(answer)}`, remedyOf(answer))
  if (answer.fields.has('balance') && answer.balanceMinor === null) {
    throw new CaseFailure(
      `${what}: balance must be a decimal string, got ${JSON.stringify(answer.fields.get('balance'))}`,
    )
  }
  const id = answer.fields.get('transactionId') ?? null
  const isReadable =
    id === null ||
    typeof id === 'number' ||
    (typeof id === 'string' && id !== '' && id.length <= idCharactersMax)
  expect(
    isReadable,
    `${what}: transactionId must be text of 1 to ${idCharactersMax} characters, got ${JSON.stringify(id)}`,
  )
}

/** A 4xx or 200 with a status, one of `codes` when given. A 5xx would be retried instead. */
export function expectRefusal(what: string, answer: WalletAnswer, ...codes: string[]): void {
  const definite =
    answer.httpStatus === 200 ||
    (answer.httpStatus >= 400 && answer.httpStatus < 500 && answer.httpStatus !== 429)
  const isUnclear =
    isNearSuccess(answer.status ?? '') || (unclearStatuses.has(answer.httpStatus) && !isListed(answer.status))
  const refused =
    definite &&
    !isUnclear &&
    answer.status !== null &&
    answer.status !== 'OK' &&
    answer.status !== 'DUPLICATE'
  const wanted = codes.length === 0 ? 'a refusal' : codes.join(' or ')
  const fits =
    refused &&
    answer.status !== 'TEMPORARY_ERROR' &&
    (codes.length === 0 || codes.includes(answer.status ?? ''))
  expect(fits, `${what}: expected ${wanted}, got ${describe(answer)}`, remedyOf(answer))
}

/** Any answer to a broken call but success. */
export function expectNoSuccess(what: string, answer: WalletAnswer): void {
  const accepted = answer.httpStatus < 300 && (answer.status === 'OK' || answer.status === 'DUPLICATE')
  expect(!accepted, `${what}: must not be accepted, got ${describe(answer)}`)
}

/** The run of a case that changes the player's balance by exactly `delta` minor units. */
export function moving(delta: bigint, run: WalletCase['run']): WalletCase['run'] {
  return (wallet) => expectMoved(wallet, delta, () => run(wallet))
}

/** Runs something and compares the change of the player's balance with `delta` minor units. */
export async function expectMoved(
  wallet: WalletUnderTest,
  delta: bigint,
  run: () => Promise<string | void>,
): Promise<string | void> {
  const before = await wallet.balance()
  const note = await run()
  const after = await wallet.balance()
  if (after - before === delta) return note
  const expected = wallet.amount(before + delta)
  throw new CaseFailure(
    `the balance should be ${expected} and is ${wallet.amount(after)} (it was ${wallet.amount(before)})`,
  )
}
