import { multiplyRational, type Rational, rational } from '@pitboss/money/rational'
import { createDrawSource, type DrawStep, type Seeds } from '../fair-v1.ts'
import { type BetIssue, DEFAULT_RTP, type Game, type Wager } from './game.ts'
import { fieldIssues, isNoAction, readObject } from './read-fields.ts'

/** Equally likely rolls, "00.00" to "99.99". */
const DICE_ROLLS = 10_000
const TARGET_PATTERN = /^(0|[1-9][0-9]?)\.[0-9]{2}$/
const TARGET_INDEX_MIN = 1
const TARGET_INDEX_MAX = 9998
const WINNING_ROLLS_MAX = 9800

type Direction = 'over' | 'under'

/** 10,000 rolls over or under a target; W of them win R·10000/W. Source: docs/contract.md, section 4. */
export const dice: Game = {
  slug: 'dice',
  name: 'Dice',
  version: '1',
  stepwise: false,
  rtp: DEFAULT_RTP,
  betSchema: {
    type: 'object',
    properties: {
      target: {
        type: 'string',
        pattern: '^(0|[1-9][0-9]?)\\.[0-9]{2}$',
        description: '"0.01" to "99.98"; between 1 and 9800 of the 10000 rolls must win',
      },
      direction: { type: 'string', enum: ['over', 'under'] },
    },
    required: ['target', 'direction'],
    additionalProperties: false,
  },
  outcomeSchema: {
    type: 'object',
    properties: {
      roll: { type: 'string', pattern: '^[0-9]{2}\\.[0-9]{2}$' },
      target: { type: 'string', pattern: '^(0|[1-9][0-9]?)\\.[0-9]{2}$' },
      direction: { type: 'string', enum: ['over', 'under'] },
      won: { type: 'boolean' },
    },
    required: ['roll', 'target', 'direction', 'won'],
  },
  parseBet(value) {
    const fields = readObject(value)
    if (fields === null) return { ok: false, issues: [{ path: 'bet', message: 'must be an object' }] }
    const issues: BetIssue[] = fieldIssues(fields, ['target', 'direction'])
    const target = fields.get('target')
    const direction = fields.get('direction')
    const targetIndex = readTarget(target)
    if (target !== undefined && targetIndex === null) {
      issues.push({
        path: 'bet.target',
        message: 'must be a string with two decimals from "0.01" to "99.98"',
      })
    }
    if (direction !== undefined && direction !== 'over' && direction !== 'under') {
      issues.push({ path: 'bet.direction', message: 'must be "over" or "under"' })
    }
    if (issues.length > 0 || targetIndex === null || (direction !== 'over' && direction !== 'under')) {
      return { ok: false, issues }
    }
    if (diceWinningRolls(targetIndex, direction) > WINNING_ROLLS_MAX) {
      return {
        ok: false,
        issues: [{ path: 'bet.target', message: 'at most 9800 of the 10000 rolls may win' }],
      }
    }
    return { ok: true, wager: createWager(String(target), targetIndex, direction) }
  },
  *shapes() {
    for (let winning = WINNING_ROLLS_MAX; winning >= 1; winning--) {
      yield createWager(rollText(winning), winning, 'under')
    }
  },
  readOutcome(value) {
    const fields = readObject(value)
    if (fields === null) return null
    return { bet: { target: fields.get('target'), direction: fields.get('direction') }, actions: [] }
  },
}

/** Rolls that win, of 10,000: over wins above the target, under below it. */
export function diceWinningRolls(targetIndex: number, direction: Direction): number {
  return direction === 'over' ? DICE_ROLLS - 1 - targetIndex : targetIndex
}

function createWager(target: string, targetIndex: number, direction: Direction): Wager {
  function winMultiplier(rtp: Rational): Rational {
    const winning = diceWinningRolls(targetIndex, direction)
    return multiplyRational(rtp, rational(BigInt(DICE_ROLLS), BigInt(winning)))
  }
  return {
    bet: { target, direction },
    leastWinMultiplier: winMultiplier,
    winMultipliers: (rtp) => [winMultiplier(rtp)],
    isAction: isNoAction,
    play({ seeds, rtp }) {
      const { index, roll, steps } = drawDice(seeds)
      const won = direction === 'over' ? index > targetIndex : index < targetIndex
      return {
        over: true,
        actions: [],
        won,
        multiplier: won ? winMultiplier(rtp) : rational(0n),
        outcome: { roll, target, direction, won },
        endedBy: 'draw',
        steps,
      }
    },
  }
}

function readTarget(value: unknown): number | null {
  if (typeof value !== 'string' || !TARGET_PATTERN.test(value)) return null
  const index = Number.parseInt(value.replace('.', ''), 10)
  return index >= TARGET_INDEX_MIN && index <= TARGET_INDEX_MAX ? index : null
}

/** The roll: `index` 0 to 9999, `roll` as shown, like "07.05". Source: docs/contract.md, section 4. */
export function drawDice(seeds: Seeds): { index: number; roll: string; steps: readonly DrawStep[] } {
  const source = createDrawSource(seeds)
  const index = source.draw(DICE_ROLLS)
  return { index, roll: rollText(index), steps: source.steps }
}

function rollText(index: number): string {
  const text = index.toString().padStart(4, '0')
  return `${text.slice(0, 2)}.${text.slice(2)}`
}
