import type { Random } from '@pitboss/chaos/random'

/** What a wallet answers in words of its own. */
type Words = {
  readonly httpStatus: number
  readonly word: string
  /** Whether the contract takes it for a definite no, so that a wallet which has done it would lie. */
  readonly isDefinite: boolean
}

/** Refusals of the table of docs/contract.md, section 6, copied by hand. */
const listed = [
  'INSUFFICIENT_FUNDS PLAYER_BLOCKED PLAYER_NOT_FOUND SELF_EXCLUDED KYC_REQUIRED LIMIT_EXCEEDED',
  'CURRENCY_MISMATCH TRANSACTION_CONFLICT',
].flatMap((words) => words.split(' '))
/**
 * OK and DUPLICATE as the contract writes them, and a rollback of what is not known, mean that it is done.
 */
const done = ['OK', 'DUPLICATE', 'TRANSACTION_NOT_FOUND', 'TRANSACTION_ROLLED_BACK']
const stems = [
  ...[
    'OK',
    'DUPLICATE',
    'SUCCESS',
    'ACCEPTED',
    'PAID',
    'PENDING',
    'QUEUED',
    'IN_PROGRESS',
    'TRUE',
    'CREATED',
  ],
  ...[
    'RS_OK',
    'RS_ERROR_UNKNOWN',
    'ERROR',
    'SYSTEM_ERROR',
    'FAILED',
    'DECLINED',
    'ALREADY_PROCESSED',
    '0',
    '200',
  ],
  ...['DUPLICATE_TRANSACTION', 'TIMEOUT', 'INTERNAL_ERROR', 'UNKNOWN', 'ERFOLG', 'VALIDE', 'НЕТ', '成功'],
]
const syllables = ['A', 'TA', 'NO', 'RE', 'SI', 'OK', 'DO', 'X']
const accepted = [200, 200, 201, 202, 203, 206, 299]
const refused = [400, 402, 403, 404, 405, 409, 412, 418, 422, 451]
const unclear = [408, 409, 425, 499, 429, 500, 502, 503, 504]

/**
 * Draws an answer: any word, as the contract lists it, nearly so, or made up of syllables, with letters in
 * any case, under any status.
 */
export function pickWords(random: Random, operation: string): Words {
  const httpStatus = random.pick(random.pick([accepted, accepted, refused, unclear]))
  const word = pickWord(random)
  if (done.includes(word)) return pickWords(random, operation)
  const isUnclear = unclear.includes(httpStatus)
  const isListed = listed.includes(word) && httpStatus < 500 && httpStatus !== 429
  const isRefused = httpStatus >= 400 && !isUnclear
  return { httpStatus, word, isDefinite: operation === 'debit' && (isListed || isRefused) }
}

function pickWord(random: Random): string {
  const stem = random.pick([listed, stems, stems, null])
  const word =
    stem === null
      ? Array.from({ length: random.between(1, 5) }, () => random.pick(syllables)).join(
          random.pick(['', '_', ' ']),
        )
      : random.pick(stem)
  const cased = random.pick([
    word,
    word,
    word.toLowerCase(),
    `${word.slice(0, 1)}${word.slice(1).toLowerCase()}`,
  ])
  return random.pick([cased, cased, cased, `${cased} `, ` ${cased}`, `${cased}.`])
}
