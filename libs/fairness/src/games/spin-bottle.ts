import { multiplyRational, type Rational, rational } from '@pitboss/money/rational'
import { createDrawSource, type DrawStep, type Seeds } from '../fair-v1.ts'
import { type BetIssue, DEFAULT_RTP, type Game, type Wager } from './game.ts'
import { fieldIssues, isIntegerWithin, isNoAction, readObject } from './read-fields.ts'

/** Equally likely angles, tenths of a degree from "000.0" to "359.9". */
const ANGLES = 3600
/** Sector counts that divide the 3,600 angles evenly. */
export const SPIN_BOTTLE_SECTORS: readonly number[] = [2, 3, 4, 5, 6, 8, 9, 10, 12]

/** A bottle that stops at one of 3,600 angles; a win pays R·sectors. Source: docs/contract.md, section 4. */
export const spinBottle: Game = {
  slug: 'spin-bottle',
  name: 'Spin the Bottle',
  version: '1',
  stepwise: false,
  rtp: DEFAULT_RTP,
  betSchema: {
    type: 'object',
    properties: {
      pick: { type: 'integer', minimum: 0, maximum: 11, description: '0 to sectors − 1' },
      sectors: { type: 'integer', enum: SPIN_BOTTLE_SECTORS },
    },
    required: ['pick', 'sectors'],
    additionalProperties: false,
  },
  outcomeSchema: {
    type: 'object',
    properties: {
      angle: { type: 'string', pattern: '^[0-3][0-9]{2}\\.[0-9]$', description: 'Degrees' },
      pick: { type: 'integer', minimum: 0, maximum: 11 },
      sectors: { type: 'integer', enum: SPIN_BOTTLE_SECTORS },
      sector: { type: 'integer', minimum: 0, maximum: 11, description: 'Where the bottle points' },
      won: { type: 'boolean' },
    },
    required: ['angle', 'pick', 'sectors', 'sector', 'won'],
  },
  parseBet(value) {
    const fields = readObject(value)
    if (fields === null) return { ok: false, issues: [{ path: 'bet', message: 'must be an object' }] }
    const issues: BetIssue[] = fieldIssues(fields, ['pick', 'sectors'])
    const pick = fields.get('pick')
    const sectors = fields.get('sectors')
    const sectorsValid = isIntegerWithin(sectors, 2, 12) && SPIN_BOTTLE_SECTORS.includes(sectors)
    if (sectors !== undefined && !sectorsValid) {
      issues.push({ path: 'bet.sectors', message: `must be one of ${SPIN_BOTTLE_SECTORS.join(', ')}` })
    }
    const pickMax = sectorsValid ? sectors - 1 : 11
    if (pick !== undefined && !isIntegerWithin(pick, 0, pickMax)) {
      issues.push({ path: 'bet.pick', message: `must be an integer from 0 to ${pickMax}` })
    }
    if (issues.length > 0 || !sectorsValid || !isIntegerWithin(pick, 0, pickMax)) return { ok: false, issues }
    return { ok: true, wager: createWager(pick, sectors) }
  },
  shapes: () => SPIN_BOTTLE_SECTORS.map((sectors) => createWager(0, sectors)),
  readOutcome(value) {
    const fields = readObject(value)
    if (fields === null) return null
    return { bet: { pick: fields.get('pick'), sectors: fields.get('sectors') }, actions: [] }
  },
}

function createWager(pick: number, sectors: number): Wager {
  const winMultiplier = (rtp: Rational): Rational => multiplyRational(rtp, rational(BigInt(sectors)))
  return {
    bet: { pick, sectors },
    leastWinMultiplier: winMultiplier,
    winMultipliers: (rtp) => [winMultiplier(rtp)],
    isAction: isNoAction,
    play({ seeds, rtp }) {
      const { index, angle, steps } = drawAngle(seeds)
      const sector = Math.floor((index * sectors) / ANGLES)
      const won = sector === pick
      return {
        over: true,
        actions: [],
        won,
        multiplier: won ? winMultiplier(rtp) : rational(0n),
        outcome: { angle, pick, sectors, sector, won },
        endedBy: 'draw',
        steps,
      }
    },
  }
}

/** The stop: `index` in tenths of a degree, `angle` as in "070.5". Source: docs/contract.md, section 4. */
export function drawAngle(seeds: Seeds): { index: number; angle: string; steps: readonly DrawStep[] } {
  const source = createDrawSource(seeds)
  const index = source.draw(ANGLES)
  const text = index.toString().padStart(4, '0')
  return { index, angle: `${text.slice(0, 3)}.${text.slice(3)}`, steps: source.steps }
}
