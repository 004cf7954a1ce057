/** The words of the contract with a wallet. Source: docs/contract.md, section 6. */

/** Refusals that mean something of their own to a debit, or are no answer about it. */
export const listedRefusals: ReadonlySet<string> = new Set([
  'INSUFFICIENT_FUNDS',
  'PLAYER_BLOCKED',
  'PLAYER_NOT_FOUND',
  'SELF_EXCLUDED',
  'KYC_REQUIRED',
  'LIMIT_EXCEEDED',
  'CURRENCY_MISMATCH',
  'TRANSACTION_CONFLICT',
  'TRANSACTION_ROLLED_BACK',
])

/** These say that it was too late, too early or not the moment, unless a word of the contract says more. */
export const unclearStatuses: ReadonlySet<number> = new Set([408, 409, 425, 499])

const nearSuccesses = new Set(
  [
    'OK DUPLICATE SUCCESS SUCCESSFUL SUCCEEDED ACCEPTED APPROVED CONFIRMED COMPLETED CREATED PAID PROCESSED DONE',
    'TRUE YES PENDING PROCESSING QUEUED IN_PROGRESS',
  ].flatMap((words) => words.split(' ')),
)

/**
 * Whether a word says neither that a stake was taken nor that it was not, in any case of letters, with white
 * space and full stops around it. `OK` and `DUPLICATE` as they stand say it.
 */
export function isNearSuccess(word: string): boolean {
  if (word === 'OK' || word === 'DUPLICATE') return false
  return nearSuccesses.has(word.replaceAll(/^[\s.]+|[\s.]+$/g, '').toUpperCase())
}
