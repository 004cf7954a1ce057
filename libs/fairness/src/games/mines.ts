import { multiplyRational, type Rational, rational } from '@pitboss/money/rational'
import { createDrawSource, type DrawStep, type Seeds } from '../fair-v1.ts'
import { DEFAULT_RTP, type Game, type PlayInput, type PlayState, type Wager } from './game.ts'
import { fieldIssues, isIntegerWithin, readObject } from './read-fields.ts'

/** Tiles of the board, numbered 0 to 24 row by row. */
export const MINES_TILES = 25
const MINES_MAX = MINES_TILES - 1
const tileSchema = { type: 'integer', minimum: 0, maximum: MINES_TILES - 1 } as const

/** 25 tiles: safe ones raise the multiplier, a bomb ends the round. Source: docs/contract.md, section 4. */
export const mines: Game = {
  slug: 'mines',
  name: 'Mines',
  version: '1',
  stepwise: true,
  rtp: DEFAULT_RTP,
  betSchema: {
    type: 'object',
    properties: { mines: { type: 'integer', minimum: 1, maximum: MINES_MAX } },
    required: ['mines'],
    additionalProperties: false,
  },
  outcomeSchema: {
    type: 'object',
    properties: {
      tiles_opened: {
        type: 'array',
        items: tileSchema,
        maxItems: MINES_TILES,
        description: 'In the order in which they were opened; the last is the bomb where one was hit',
      },
      bomb_positions: {
        type: 'array',
        items: tileSchema,
        minItems: 1,
        maxItems: MINES_MAX,
        description: 'In the order in which they were drawn',
      },
      won: { type: 'boolean' },
    },
    required: ['tiles_opened', 'bomb_positions', 'won'],
  },
  parseBet(value) {
    const fields = readObject(value)
    if (fields === null) return { ok: false, issues: [{ path: 'bet', message: 'must be an object' }] }
    const issues = fieldIssues(fields, ['mines'])
    const count = fields.get('mines')
    if (count !== undefined && !isIntegerWithin(count, 1, MINES_MAX)) {
      issues.push({ path: 'bet.mines', message: `must be an integer from 1 to ${MINES_MAX}` })
    }
    if (issues.length > 0 || !isIntegerWithin(count, 1, MINES_MAX)) return { ok: false, issues }
    return { ok: true, wager: createWager(count) }
  },
  shapes: () => Array.from({ length: MINES_MAX }, (_, index) => createWager(index + 1)),
  readOutcome(value) {
    const fields = readObject(value)
    const tiles = fields?.get('tiles_opened')
    const bombs = fields?.get('bomb_positions')
    if (!Array.isArray(tiles) || !Array.isArray(bombs) || tiles.length > MINES_TILES) return null
    return Array.from(tiles).every(isTile) ? { bet: { mines: bombs.length }, actions: tiles } : null
  },
}

/** R·C(25,k)/C(25−mines,k) after k safe tiles, k from 0 to 25 − mines. */
export function minesMultiplier(rtp: Rational, mineCount: number, safeTiles: number): Rational {
  let inverseChance = rational(1n)
  for (let opened = 0; opened < safeTiles; opened++) {
    const left = BigInt(MINES_TILES - opened)
    inverseChance = multiplyRational(inverseChance, rational(left, left - BigInt(mineCount)))
  }
  return multiplyRational(rtp, inverseChance)
}

/** The multipliers after 1, 2, 3 … safe tiles, as far as there are. */
export function minesMultipliers(rtp: Rational, mineCount: number): Rational[] {
  return Array.from({ length: MINES_TILES - mineCount }, (_, index) =>
    minesMultiplier(rtp, mineCount, index + 1),
  )
}

function createWager(mineCount: number): Wager {
  return {
    bet: { mines: mineCount },
    leastWinMultiplier: (rtp) => minesMultiplier(rtp, mineCount, 1),
    winMultipliers: (rtp) => minesMultipliers(rtp, mineCount),
    isAction: isTile,
    play: (input) => playMines(mineCount, input),
  }
}

function playMines(mineCount: number, { seeds, rtp, actions, cashOut, payoutFits }: PlayInput): PlayState {
  const { bombs, steps } = drawMines(seeds, mineCount)
  const opened: number[] = []
  for (const tile of actions) {
    if (!isTile(tile)) throw new RangeError('a tile is an integer from 0 to 24')
    if (opened.includes(tile)) continue
    opened.push(tile)
    if (bombs.includes(tile)) return ended(opened, bombs, rational(0n), 'loss', steps)
    const multiplier = minesMultiplier(rtp, mineCount, opened.length)
    if (opened.length === MINES_TILES - mineCount) return ended(opened, bombs, multiplier, 'complete', steps)
    if (!payoutFits(minesMultiplier(rtp, mineCount, opened.length + 1))) {
      return ended(opened, bombs, multiplier, 'max_payout', steps)
    }
  }
  const multiplier = opened.length === 0 ? null : minesMultiplier(rtp, mineCount, opened.length)
  if (cashOut && multiplier !== null) return ended(opened, bombs, multiplier, 'cashout', steps)
  const nextMultiplier = minesMultiplier(rtp, mineCount, opened.length + 1)
  return { over: false, actions: opened, multiplier, nextMultiplier }
}

function ended(
  opened: readonly number[],
  bombs: readonly number[],
  multiplier: Rational,
  endedBy: 'loss' | 'complete' | 'max_payout' | 'cashout',
  steps: readonly DrawStep[],
): PlayState {
  const won = endedBy !== 'loss'
  const outcome = { tiles_opened: opened, bomb_positions: bombs, won }
  return { over: true, actions: opened, won, multiplier, outcome, endedBy, steps }
}

function isTile(value: unknown): value is number {
  return isIntegerWithin(value, 0, MINES_TILES - 1)
}

/**
 * Bomb positions in draw order: each draw removes one tile from the pool of those left. Source:
 * docs/contract.md, section 4.
 * @param mines 1 to 24, else RangeError
 */
export function drawMines(seeds: Seeds, mines: number): { bombs: number[]; steps: readonly DrawStep[] } {
  if (!Number.isInteger(mines) || mines < 1 || mines >= MINES_TILES) {
    throw new RangeError('mines must be 1 to 24')
  }
  const source = createDrawSource(seeds)
  const pool = Array.from({ length: MINES_TILES }, (_, tile) => tile)
  const bombs: number[] = []
  while (bombs.length < mines) bombs.push(...pool.splice(source.draw(pool.length), 1))
  return { bombs, steps: source.steps }
}
