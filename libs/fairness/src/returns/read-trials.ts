import { rational, type Rational } from '@pitboss/money/rational'
import type { Game } from '../games/game.ts'
import { gameBySlug } from '../games/registry.ts'
import { isIntegerWithin, readObject } from '../games/read-fields.ts'

/** One chance that a round took: what it was called, how great it was, and whether it came true. */
export type Trial = { readonly shape: string; readonly chance: Rational; readonly won: boolean }
/** Where a draw fell among equally likely parts of its range. */
export type DrawnPart = { readonly part: number; readonly parts: number }
/** The chances that a round took so far, in their order, and where its draw fell. */
export type ReadTrials = {
  readonly game: string
  readonly rtp: Rational
  readonly trials: readonly Trial[]
  readonly drawn: DrawnPart | null
}
/** What is read of a round. `actions` is of a round that is not over and has no outcome yet. */
export type PlayedRound = {
  readonly game: unknown
  readonly bet: unknown
  readonly outcome: unknown
  readonly actions?: readonly number[]
}

const parts = 20
const [rolls, angles] = [10_000, 3600]
const tiles = 25
const rollPattern = /^([0-9]{2})\.([0-9]{2})$/
const anglePattern = /^([0-9]{3})\.([0-9])$/

/**
 * The chances that a round of ours took, from its record: of a game of one draw one, named by its
 * multiplier's chance; of mines one for each opened tile, whatever the player does next. A round that goes on
 * has those of its tiles so far, the same and in the same order as when it is over. Null for what is no such
 * round.
 * @param find the game of a slug; those of the product by default
 */
export function readTrials(round: PlayedRound, find = gameBySlug): ReadTrials | null {
  const game = typeof round.game === 'string' ? find(round.game) : null
  if (game === null) return null
  const { slug, rtp } = game
  const outcome = readObject(round.outcome)
  const read =
    outcome === null ? readOpened(game, round) : (readers[slug] ?? readOther)(game, round.bet, outcome)
  return read === null ? null : { game: slug, rtp, ...read }
}

type Read = Pick<ReadTrials, 'trials' | 'drawn'>
type Reader = (game: Game, bet: unknown, outcome: ReadonlyMap<string, unknown>) => Read | null

const readers: Readonly<Record<string, Reader>> = {
  dice: (game, bet, outcome) => {
    const roll = tenths(rollPattern, outcome.get('roll'))
    return roll === null ? null : oneShot(game, bet, outcome, roll / rolls)
  },
  'spin-bottle': (game, bet, outcome) => {
    const angle = tenths(anglePattern, outcome.get('angle'))
    return angle === null ? null : oneShot(game, bet, outcome, angle / angles)
  },
  mines: (_game, _bet, outcome) => {
    const [opened, bombs] = [outcome.get('tiles_opened'), outcome.get('bomb_positions')]
    return areTiles(opened) && areTiles(bombs) ? tileTrials(opened, bombs.length, bombs) : null
  },
}

/** A game of one draw that has no reader of its own: the chance of its bet; its draws are not told. */
const readOther: Reader = (game, bet, outcome) => (game.stepwise ? null : oneShot(game, bet, outcome, null))

/** A board that goes on: every tile that was opened was safe. */
function readOpened(game: Game, { bet, actions = [] }: PlayedRound): Read | null {
  if (game.slug !== 'mines' || actions.length === 0) return null
  const mines = readObject(bet)?.get('mines')
  return isIntegerWithin(mines, 1, tiles - 1) && areTiles(actions) ? tileTrials(actions, mines, []) : null
}

function areTiles(values: unknown): values is number[] {
  return Array.isArray(values) && values.every((tile) => isIntegerWithin(tile, 0, tiles - 1))
}

function tileTrials(opened: readonly number[], mines: number, bombs: readonly number[]): Read {
  const trials = opened.map((tile, before) => ({
    shape: `tile ${before + 1} beside ${mines} mines`,
    chance: rational(BigInt(tiles - mines - before), BigInt(tiles - before)),
    won: !bombs.includes(tile),
  }))
  return { trials, drawn: null }
}

/** @param at where the draw fell, from 0 to below 1; null when it is not told */
function oneShot(
  game: Game,
  bet: unknown,
  outcome: ReadonlyMap<string, unknown>,
  at: number | null,
): Read | null {
  const parsed = game.parseBet(bet)
  const won = outcome.get('won')
  if (!parsed.ok || typeof won !== 'boolean') return null
  const { n, d } = parsed.wager.leastWinMultiplier(game.rtp)
  // The multiplier is R divided by the chance.
  const chance = rational(game.rtp.n * d, game.rtp.d * n)
  const shape = `chance ${chance.n}/${chance.d}`
  const drawn = at === null ? null : { part: Math.floor(at * parts), parts }
  return { trials: [{ shape, chance, won }], drawn }
}

function tenths(pattern: RegExp, value: unknown): number | null {
  const found = typeof value === 'string' ? pattern.exec(value) : null
  return found === null ? null : Number.parseInt(`${found[1]}${found[2]}`, 10)
}
