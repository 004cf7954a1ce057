import { rational, type Rational } from '@pitboss/money/rational'
import type { Game } from '../games/game.ts'
import { gameBySlug } from '../games/registry.ts'
import { isIntegerWithin, readObject } from '../games/read-fields.ts'

/** One chance that a round took: what it was called, how great it was, and whether it came true. */
export type Trial = { readonly shape: string; readonly chance: Rational; readonly won: boolean }
/** Where a draw fell among equally likely parts of its range. */
export type DrawnPart = { readonly part: number; readonly parts: number }

const parts = 20
const [rolls, angles] = [10_000, 3600]
const tiles = 25
const rollPattern = /^([0-9]{2})\.([0-9]{2})$/
const anglePattern = /^([0-9]{3})\.([0-9])$/

/**
 * The chances that a finished round of ours took, from its public record: of dice and the bottle one, named by
 * its multiplier's chance; of mines one for each opened tile, whatever the player did next.
 * Null for what is no such round.
 */
export function readTrials(round: {
  readonly game: unknown
  readonly bet: unknown
  readonly outcome: unknown
}): { game: string; rtp: Rational; trials: readonly Trial[]; drawn: DrawnPart | null } | null {
  const game = typeof round.game === 'string' ? gameBySlug(round.game) : null
  const outcome = readObject(round.outcome)
  if (game === null || outcome === null) return null
  const read = readers[game.slug]?.(game, round.bet, outcome) ?? null
  return read === null ? null : { game: game.slug, rtp: game.rtp, ...read }
}

type Read = { trials: readonly Trial[]; drawn: DrawnPart | null }
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
    if (!Array.isArray(opened) || !Array.isArray(bombs)) return null
    if (![...opened, ...bombs].every((tile) => isIntegerWithin(tile, 0, tiles - 1))) return null
    const trials = opened.map((tile: unknown, before) => ({
      shape: `tile ${before + 1} beside ${bombs.length} mines`,
      chance: rational(BigInt(tiles - bombs.length - before), BigInt(tiles - before)),
      won: !bombs.includes(tile),
    }))
    return { trials, drawn: null }
  },
}

/** @param at where the draw fell, from 0 to below 1 */
function oneShot(game: Game, bet: unknown, outcome: ReadonlyMap<string, unknown>, at: number): Read | null {
  const parsed = game.parseBet(bet)
  const won = outcome.get('won')
  if (!parsed.ok || typeof won !== 'boolean') return null
  const { n, d } = parsed.wager.leastWinMultiplier(game.rtp)
  // The multiplier is R divided by the chance.
  const chance = rational(game.rtp.n * d, game.rtp.d * n)
  const shape = `chance ${chance.n}/${chance.d}`
  return { trials: [{ shape, chance, won }], drawn: { part: Math.floor(at * parts), parts } }
}

function tenths(pattern: RegExp, value: unknown): number | null {
  const found = typeof value === 'string' ? pattern.exec(value) : null
  return found === null ? null : Number.parseInt(`${found[1]}${found[2]}`, 10)
}
