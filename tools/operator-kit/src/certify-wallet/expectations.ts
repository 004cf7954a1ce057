import { CaseFailure, expect } from '../certify/case.ts'
import { describe, type WalletAnswer, type WalletUnderTest } from './wallet-under-test.ts'

/** The movement was accepted, now or earlier: `OK` or `DUPLICATE` with HTTP 200 and a string balance. */
export function expectSuccess(what: string, answer: WalletAnswer): void {
  const accepted = answer.httpStatus === 200 && (answer.status === 'OK' || answer.status === 'DUPLICATE')
  expect(accepted, `${what}: expected HTTP 200 with status OK or DUPLICATE, got ${describe(answer)}`)
  if (answer.fields.has('balance') && answer.balanceMinor === null) {
    throw new CaseFailure(
      `${what}: balance must be a decimal string, got ${JSON.stringify(answer.fields.get('balance'))}`,
    )
  }
}

/**
 * A definite refusal: 4xx or 200 with a status, one of `codes` when given. A 5xx would be retried instead.
 */
export function expectRefusal(what: string, answer: WalletAnswer, ...codes: string[]): void {
  const definite =
    answer.httpStatus === 200 ||
    (answer.httpStatus >= 400 && answer.httpStatus < 500 && answer.httpStatus !== 429)
  const refused =
    definite && answer.status !== null && answer.status !== 'OK' && answer.status !== 'DUPLICATE'
  const wanted = codes.length === 0 ? 'a refusal' : codes.join(' or ')
  const fits =
    refused &&
    answer.status !== 'TEMPORARY_ERROR' &&
    (codes.length === 0 || codes.includes(answer.status ?? ''))
  expect(fits, `${what}: expected ${wanted}, got ${describe(answer)}`)
}

/** Any answer to a broken call but success. */
export function expectNoSuccess(what: string, answer: WalletAnswer): void {
  const accepted = answer.httpStatus < 300 && (answer.status === 'OK' || answer.status === 'DUPLICATE')
  expect(!accepted, `${what}: must not be accepted, got ${describe(answer)}`)
}

/** Runs something and compares the change of the player's balance with `delta` minor units. */
export async function expectMoved(
  wallet: WalletUnderTest,
  delta: bigint,
  run: () => Promise<void>,
): Promise<void> {
  const before = await wallet.balance()
  await run()
  const after = await wallet.balance()
  if (after - before === delta) return
  const expected = wallet.amount(before + delta)
  throw new CaseFailure(
    `the balance should be ${expected} and is ${wallet.amount(after)} (it was ${wallet.amount(before)})`,
  )
}
