import type { Dossier } from '@pitboss/contracts/objects/dossier'
import { outcomeText, roundLine, sectorName } from '@pitboss/fairness/round-line'

type Round = Dossier['round']

/** One moment of a round: what the page drew, and the same in words. */
export type Frame = {
  readonly text: string
  /** The round as the page knew it at that moment. */
  readonly round: Round
  readonly activity: 'idle' | 'placing' | 'revealing' | 'showing'
  /** The tile that is being opened. */
  readonly tile: number | null
  /** For how long a replay shows it. */
  readonly forMs: number
}

const columns = 5
const betMs = 1200
const turnMs = { dice: 1200, 'spin-bottle': 2800 } as const
const openingMs = 500
const openedMs = 800

/**
 * A round step by step, from its record: the bet, each pick, the end. Null for a round that no page of ours
 * has drawn to an end: of the operator's server, not over, or without an outcome.
 */
export function framesOf(round: Round): readonly Frame[] | null {
  const { game, bet, outcome } = round
  if (round.driver !== 'game' || round.status !== 'SETTLED' || bet === null || outcome === null) return null
  const end = roundLine(round) ?? outcomeText(round)
  const before = { ...round, status: 'OPEN', outcome: null, multiplier: null, payout: null } as const
  const still = { tile: null, forMs: betMs }
  const stake = `Stake ${round.stake} ${round.currency}${round.free_bet ? ', a free bet' : ''}`
  const last: Frame = { ...still, text: `${end}${/[.!]$/.test(end) ? '' : '.'}`, round, activity: 'idle' }
  switch (game) {
    case 'dice':
    case 'spin-bottle':
      return [
        { ...still, text: `${stake}: ${choiceText(round)}.`, round: before, activity: 'idle' },
        {
          ...{ text: game === 'dice' ? 'The roll.' : 'The bottle turns.', tile: null },
          ...{ round, activity: 'showing', forMs: turnMs[game] },
        },
        last,
      ]
    case 'mines': {
      const picks = numbersOf(outcome.tiles_opened)
      const opened = (count: number) => ({
        ...before,
        progress: { tiles_opened: picks.slice(0, count), next_multiplier: null },
      })
      return [
        { ...still, text: `${stake}: ${choiceText(round)}.`, round: opened(0), activity: 'placing' },
        ...picks.flatMap((tile, index): Frame[] => {
          const isLast = index === picks.length - 1 && outcome.won !== true
          const opening: Frame = {
            ...{ text: `Pick ${index + 1}: ${placeText(tile)}.`, round: opened(index) },
            ...{ activity: 'revealing', tile, forMs: openingMs },
          }
          const safe: Frame = {
            ...{ text: `Pick ${index + 1}: ${placeText(tile)} is safe.`, round: opened(index + 1) },
            ...{ activity: 'revealing', tile: null, forMs: openedMs },
          }
          return isLast ? [opening] : [opening, safe]
        }),
        last,
      ]
    }
    default:
      return null
  }
}

/** What the player chose, in words. */
function choiceText({ game, bet }: Round): string {
  const of = (name: string) => {
    const value = bet?.[name]
    return typeof value === 'number' || typeof value === 'string' ? value : ''
  }
  if (game === 'dice') return `roll ${of('direction')} ${of('target')}`
  if (game === 'mines') return of('mines') === 1 ? '1 mine' : `${of('mines')} mines`
  return `sector ${sectorName(Number(of('pick')))} of ${of('sectors')}`
}

function placeText(tile: number): string {
  return `row ${Math.floor(tile / columns) + 1}, column ${(tile % columns) + 1}`
}

function numbersOf(value: unknown): number[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'number') : []
}
