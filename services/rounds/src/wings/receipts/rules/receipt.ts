import type { ReceiptBody, SealedReceipt } from '@pitboss/contracts/objects/receipt'
import { roundLine, roundLineLanguage, roundLineVersion, type ToldRound } from '@pitboss/fairness/round-line'

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
  const unchecked = (reason: 'language' | 'text_version' | 'build', expected: string | null) => {
    return { state: 'UNCHECKED', reason, ...told, expected } as const
  }
  if (body.language !== roundLineLanguage) return unchecked('language', null)
  if (body.text_version !== roundLineVersion) return unchecked('text_version', null)
  const expected = roundLine(round)
  if (expected !== body.text) return { state: 'DIFFERS', reason: 'text', ...told, expected }
  const isServed = page === round.game || page === commonPage
  return isServed ? { state: 'AGREES', reason: null, ...told, expected } : unchecked('build', expected)
}
