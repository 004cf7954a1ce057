import type { ReceiptBody, SealedReceipt } from '@pitboss/contracts/objects/receipt'
import { receiptHash } from '@pitboss/fairness/receipt'
import { roundLine, roundLineLanguage, roundLineVersion, type ToldRound } from '@pitboss/fairness/round-line'

export function isHashed(
  roundId: string,
  { build, language, text_version, text, hash }: ReceiptBody,
): boolean {
  return receiptHash({ roundId, build, language, textVersion: text_version, text }) === hash
}

/** The page of games that have none of their own. */
const commonPage = 'index'

/**
 * What a page showed, judged by the round. Another sentence differs, from any build; one that agrees is
 * checked only for a page that is served for the game. Source: docs/contract.md, section 4, "Receipts".
 * @param page as of `keepReceipt`
 */
export function judgeReceipt(
  body: ReceiptBody,
  page: string | null,
  round: ToldRound,
  receivedAt: Date,
): SealedReceipt {
  const told = { received_at: receivedAt.toISOString(), ...body }
  const uncomparable =
    body.language !== roundLineLanguage
      ? 'language'
      : body.text_version !== roundLineVersion
        ? 'text_version'
        : null
  if (uncomparable !== null) return { state: 'UNCHECKED', reason: uncomparable, ...told, expected: null }
  const expected = roundLine(round)
  if (expected !== body.text) return { state: 'DIFFERS', reason: 'text', ...told, expected }
  const isServed = page === round.game || page === commonPage
  return isServed
    ? { state: 'AGREES', reason: null, ...told, expected }
    : { state: 'UNCHECKED', reason: 'build', ...told, expected }
}
