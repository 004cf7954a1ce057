import { z } from 'zod'

/** What a bet and its outcome say of the multiplier, as the contract shows them. */
const ended = z.object({
  status: z.literal('SETTLED'),
  driver: z.literal('game'),
  stake: z.string().regex(/^[0-9]+(\.[0-9]+)?$/),
  end_reason: z.string().nullable(),
})
const dice = z.object({
  game: z.literal('dice'),
  outcome: z.object({
    target: z.string().regex(/^[0-9]{1,2}\.[0-9]{2}$/),
    direction: z.string(),
    won: z.boolean(),
  }),
})
const bottle = z.object({
  game: z.literal('spin-bottle'),
  outcome: z.object({ sectors: z.int(), won: z.boolean() }),
})
const mines = z.object({
  game: z.literal('mines'),
  outcome: z.object({
    tiles_opened: z.array(z.int()),
    bomb_positions: z.array(z.int()),
    won: z.boolean(),
  }),
})
const games = z.discriminatedUnion('game', [dice, bottle, mines])

const [rolls, tiles] = [10_000, 25]

/**
 * The payout of a settled round by arithmetic of its own: it shares no line with the product, so a product
 * that rounds otherwise, and verifies itself by the same line, is noticed. Decimals are those of the stake.
 * Null for what is no settled round of a game. Source: docs/contract.md, section 4, "Games".
 */
export function paidByHand(data: unknown): string | null {
  const [round, played] = [ended.safeParse(data).data, games.safeParse(data).data]
  if (round === undefined || played === undefined) return null
  const [whole = '', decimals = ''] = round.stake.split('.')
  const isPaid = played.outcome.won && round.end_reason !== 'win_failed'
  const [gain, of] = isPaid ? multiplierOf(played) : [0n, 1n]
  const minor = (BigInt(whole + decimals) * 99n * gain) / (100n * of)
  const text = String(minor).padStart(decimals.length + 1, '0')
  if (decimals === '') return text
  return `${text.slice(0, -decimals.length)}.${text.slice(-decimals.length)}`
}

/** One divided by the chance that the bet had, as numerator and denominator. */
function multiplierOf(played: z.output<typeof games>): readonly [bigint, bigint] {
  switch (played.game) {
    case 'dice': {
      const { target, direction } = played.outcome
      const index = Number(target.replace('.', ''))
      return [BigInt(rolls), BigInt(direction === 'over' ? rolls - 1 - index : index)]
    }
    case 'spin-bottle':
      return [BigInt(played.outcome.sectors), 1n]
    case 'mines': {
      const { tiles_opened: opened, bomb_positions: bombs } = played.outcome
      let [gain, of] = [1n, 1n]
      for (let before = 0; before < opened.length; before++) {
        gain *= BigInt(tiles - before)
        of *= BigInt(tiles - bombs.length - before)
      }
      return [gain, of]
    }
  }
}
