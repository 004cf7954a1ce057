import type { Game } from '@pitboss/fairness/games/game'
import { minesMultiplier } from '@pitboss/fairness/games/mines'
import { compareRational, multiplyRational, type Rational, rational } from '@pitboss/money/rational'

/** One way to bet: the exact chance of its win, what a win pays, and the share of stakes that goes back. */
export type BetShape = {
  readonly name: string
  readonly chance: Rational
  readonly multiplier: Rational
  readonly rtp: Rational
}

const rolls = 10_000
const angles = 3600
const tiles = 25
const sectorsMax = 12

/**
 * Every way to bet on a game. Chances are counted here over all outcomes of the draw, not taken from the
 * game's own formula. Payouts are rounded down to the currency, so no share is above these.
 * @throws Error for a game that has no count here
 */
export function betShapesOf(game: Game): BetShape[] {
  if (game.slug === 'dice') return diceShapes(game)
  if (game.slug === 'mines') return minesShapes(game)
  if (game.slug === 'spin-bottle') return bottleShapes(game)
  throw new Error(`the outcomes of ${game.slug} are not counted yet`)
}

/** The least and the greatest share of stakes that goes back. */
export function rtpRange(shapes: readonly BetShape[]): { least: Rational; greatest: Rational } {
  const [first] = shapes
  if (first === undefined) throw new Error('a game has at least one bet')
  const pick = (sign: number) =>
    shapes.reduce((best, { rtp }) => (compareRational(rtp, best) === sign ? rtp : best), first.rtp)
  return { least: pick(-1), greatest: pick(1) }
}

function shape(name: string, chance: Rational, multiplier: Rational): BetShape {
  return { name, chance, multiplier, rtp: multiplyRational(chance, multiplier) }
}

function oneShot(game: Game, name: string, bet: unknown, winning: number, outcomes: number): BetShape[] {
  const parsed = game.parseBet(bet)
  if (!parsed.ok) return []
  const chance = rational(BigInt(winning), BigInt(outcomes))
  return [shape(name, chance, parsed.wager.leastWinMultiplier(game.rtp))]
}

function diceShapes(game: Game): BetShape[] {
  const shapes: BetShape[] = []
  for (let target = 0; target < rolls; target++) {
    const text = `${Math.floor(target / 100)}.${String(target % 100).padStart(2, '0')}`
    let over = 0
    let under = 0
    for (let roll = 0; roll < rolls; roll++) {
      if (roll > target) over += 1
      if (roll < target) under += 1
    }
    shapes.push(
      ...oneShot(game, `over ${text}`, { target: text, direction: 'over' }, over, rolls),
      ...oneShot(game, `under ${text}`, { target: text, direction: 'under' }, under, rolls),
    )
  }
  return shapes
}

function bottleShapes(game: Game): BetShape[] {
  const shapes: BetShape[] = []
  for (let sectors = 1; sectors <= sectorsMax; sectors++) {
    for (let pick = 0; pick < sectors; pick++) {
      let winning = 0
      for (let angle = 0; angle < angles; angle++) {
        if (Math.floor((angle * sectors) / angles) === pick) winning += 1
      }
      const name = `sector ${pick} of ${sectors}`
      shapes.push(...oneShot(game, name, { pick, sectors }, winning, angles))
    }
  }
  return shapes
}

/** A player of mines who cashes out after k safe tiles. */
function minesShapes(game: Game): BetShape[] {
  const shapes: BetShape[] = []
  for (let bombs = 1; bombs < tiles; bombs++) {
    let chance = rational(1n)
    for (let opened = 1; opened <= tiles - bombs; opened++) {
      const left = tiles - opened + 1
      chance = multiplyRational(chance, rational(BigInt(left - bombs), BigInt(left)))
      const name = `${bombs} mines, cash-out after ${opened}`
      shapes.push(shape(name, chance, minesMultiplier(game.rtp, bombs, opened)))
    }
  }
  return shapes
}
