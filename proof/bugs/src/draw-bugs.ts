import { dice, diceWinningRolls } from '@pitboss/fairness/games/dice'
import { createDrawSource } from '@pitboss/fairness/fair-v1'
import type { Game } from '@pitboss/fairness/games/game'
import { mines } from '@pitboss/fairness/games/mines'
import { rational } from '@pitboss/money/rational'
import { type Catalogue, createCatalogue } from '@pitboss/rounds/rules/catalogue'
import type { HasBug } from './bugs.ts'

const [rolls, twoBytes] = [10_000, 65_536]

/**
 * The games of the product; dice may draw the remainder of 16 bits, so that rolls below 55.36 come more
 * often, and mines may go on beyond the greatest payout.
 */
export function catalogueWith(catalogue: Catalogue, has: HasBug): Catalogue {
  const wrong = has('rounds.draw-by-remainder')
    ? byRemainder
    : has('rounds.mines-beyond-max-payout')
      ? unstopped
      : null
  if (wrong === null) return catalogue
  return createCatalogue(catalogue.entries.map(({ game }) => (game.slug === wrong.slug ? wrong : game)))
}

const unstopped: Game = {
  ...mines,
  parseBet(value) {
    const parsed = mines.parseBet(value)
    if (!parsed.ok) return parsed
    const { wager } = parsed
    return {
      ok: true,
      wager: { ...wager, play: (input) => wager.play({ ...input, payoutFits: () => true }) },
    }
  },
}

const byRemainder: Game = {
  ...dice,
  parseBet(value) {
    const parsed = dice.parseBet(value)
    if (!parsed.ok) return parsed
    const { wager } = parsed
    const { target, direction } = wager.bet
    return {
      ok: true,
      wager: {
        ...wager,
        play(input) {
          const source = createDrawSource(input.seeds)
          const index = source.draw(twoBytes) % rolls
          const text = index.toString().padStart(4, '0')
          const roll = `${text.slice(0, 2)}.${text.slice(2)}`
          const targetIndex = Math.round(Number(target) * 100)
          const won =
            direction === 'under' ? index < diceWinningRolls(targetIndex, 'under') : index > targetIndex
          return {
            over: true,
            actions: [],
            won,
            multiplier: won ? wager.leastWinMultiplier(input.rtp) : rational(0n),
            outcome: { ...wager.bet, roll, won },
            endedBy: 'draw',
            steps: source.steps,
          }
        },
      },
    }
  },
}
