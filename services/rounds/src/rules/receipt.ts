import type { ReceiptBody, SealedReceipt } from '@pitboss/contracts/objects/receipt'
import { receiptHash } from '@pitboss/fairness/receipt'
import { roundLine, roundLineLanguage, roundLineVersion, type ToldRound } from '@pitboss/fairness/round-line'

/** Whether the hash of a receipt is that of what it says. */
export function isHashed(
  roundId: string,
  { build, language, text_version, text, hash }: ReceiptBody,
): boolean {
  return receiptHash({ roundId, build, language, textVersion: text_version, text }) === hash
}

/**
 * What a page showed, judged by the round: another language (a browser may translate), or sentences of
 * another release, cannot be compared. Source: docs/contract.md, section 4, "Receipts".
 */
export function judgeReceipt(body: ReceiptBody, round: ToldRound, receivedAt: Date): SealedReceipt {
  const isKnown = body.language === roundLineLanguage && body.text_version === roundLineVersion
  const expected = isKnown ? roundLine(round) : null
  const state = expected === null ? 'UNCHECKED' : expected === body.text ? 'AGREES' : 'DIFFERS'
  return { state, received_at: receivedAt.toISOString(), ...body, expected }
}
