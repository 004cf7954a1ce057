import { moneyText, multiplierText } from '@pitboss/money/money-text'

/** The version of the sentences below: a change of any of them raises it. */
export const roundLineVersion = 2
/** The language of the sentences. */
export const roundLineLanguage = 'en'

type Fields = Readonly<Record<string, unknown>>

/** The parts of a round, as the API shows it, that its sentence is made of. */
export type ToldRound = {
  readonly game: string
  readonly status: string
  readonly outcome: Fields | null
  readonly multiplier: string | null
  readonly payout: string | null
  readonly currency: string
  readonly end_reason: string | null
}

const outcomes: Readonly<Record<string, (outcome: Fields) => string>> = {
  dice: ({ roll }) => `Rolled ${text(roll)}`,
  mines(outcome) {
    const opened = Array.isArray(outcome.tiles_opened) ? outcome.tiles_opened.length : 0
    return outcome.won === true
      ? `Cashed out after ${tiles(opened)}`
      : `Hit a mine after ${tiles(opened - 1)}`
  },
  'spin-bottle': ({ sector, angle }) =>
    `The bottle points at ${sectorName(typeof sector === 'number' ? sector : 0)}, ${text(angle)}°`,
}

/** The result of a round in a few words, e.g. "Rolled 73.12"; empty for a game or an end that has none. */
export function outcomeText({ game, outcome }: Pick<ToldRound, 'game' | 'outcome'>): string {
  const of = outcomes[game]
  return of === undefined || outcome === null ? '' : of(outcome)
}

/**
 * The sentence in which a page tells how a round ended: outcome, payout and multiplier. Null for a round that
 * is not settled. Source: docs/contract.md, section 4, "Receipts".
 */
export function roundLine(round: ToldRound): string | null {
  const { status, outcome, payout, currency, multiplier, end_reason } = round
  if (status !== 'SETTLED' || outcome === null) return null
  if (end_reason === 'win_failed') return `${outcomeText(round)}. You won, but your casino has not paid it.`
  return outcome.won === true
    ? `${outcomeText(round)}. You won ${moneyText(payout ?? '0', currency)} at ${multiplierText(multiplier ?? '0')}`
    : `${outcomeText(round)}. No win this time.`
}

/** Sectors are called A, B, C … so that they are not mistaken for the 0-based numbers of the bet. */
export function sectorName(sector: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + sector)
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function tiles(count: number): string {
  return count === 1 ? '1 safe tile' : `${Math.max(0, count)} safe tiles`
}
