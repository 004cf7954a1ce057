import type { DrawStep } from '@pitboss/fairness/fair-v1'

export type DrawRow = {
  readonly message: string
  readonly word: number
  readonly wordHex: string
  readonly range: number
  /** Word × range ÷ 2^32, cut to 4 decimals. */
  readonly quotient: string
  readonly rejected: boolean
  readonly result: number
  /** Meaning of the result in the game. */
  readonly meaning: string
}

const wordRange = 2n ** 32n

/** One row per word of the draw, the rejected ones included. */
export function describeDraws(draws: readonly DrawStep[], round: unknown): DrawRow[] {
  const meanings = meaningsOf(draws, round)
  return draws.flatMap(({ range, words, messages, result }, draw) =>
    words.map((word, index) => {
      const rejected = index < words.length - 1
      return {
        message: messages[index] ?? '',
        word,
        wordHex: word.toString(16).padStart(8, '0'),
        range,
        quotient: quotientText(word, range),
        rejected,
        result,
        meaning: rejected ? 'would favour some results' : (meanings[draw] ?? ''),
      }
    }),
  )
}

function quotientText(word: number, range: number): string {
  const tenThousandths = (BigInt(word) * BigInt(range) * 10_000n) / wordRange
  const text = tenThousandths.toString().padStart(5, '0')
  return `${text.slice(0, -4)}.${text.slice(-4)}`
}

function meaningsOf(draws: readonly DrawStep[], round: unknown): string[] {
  const outcome = outcomeOf(round)
  const bombs = outcome.get('bomb_positions')
  if (Array.isArray(bombs)) return bombs.map((bomb) => `bomb on tile ${bomb}`)
  const angle = outcome.get('angle')
  if (typeof angle === 'string') return draws.map(() => `${angle}°, sector ${String(outcome.get('sector'))}`)
  const roll = outcome.get('roll')
  return typeof roll === 'string' ? draws.map(() => `roll ${roll}`) : []
}

/** Reads a round record, event data, or an event's envelope. */
function outcomeOf(value: unknown): ReadonlyMap<string, unknown> {
  const fields = fieldsOf(value)
  const round = fields.has('type') && fields.has('data') ? fieldsOf(fields.get('data')) : fields
  return fieldsOf(round.get('outcome'))
}

function fieldsOf(value: unknown): ReadonlyMap<string, unknown> {
  return typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : new Map()
}
