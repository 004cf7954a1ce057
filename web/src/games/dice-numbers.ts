import { diceWinningRolls } from '@pitboss/fairness/games/dice'

export type Direction = 'over' | 'under'

const winningRollsMax = 9800
const lastRoll = 9999

/** "50.00" as 5000; null for text that is no target. Sloppy forms such as "5" and "50.5" are understood. */
export function readTarget(text: string): number | null {
  const match = /^(\d{1,2})(?:[.,](\d{0,2}))?$/.exec(text.trim())
  if (match === null) return null
  const [, whole = '', decimals = ''] = match
  return Number(whole) * 100 + Number(decimals.padEnd(2, '0'))
}

/** 5000 as "50.00", the form that a bet has. */
export function targetText(index: number): string {
  return `${Math.floor(index / 100)}.${String(index % 100).padStart(2, '0')}`
}

/** The targets that leave 1 to 9800 winning rolls. */
export function targetRange(direction: Direction): { min: number; max: number } {
  return direction === 'over'
    ? { min: lastRoll - winningRollsMax, max: lastRoll - 1 }
    : { min: 1, max: winningRollsMax }
}

/** The target on the other side with the same chance. */
export function mirrored(index: number): number {
  return lastRoll - index
}

/** Winning rolls of 10,000 as a percentage. */
export function chanceText(index: number, direction: Direction): string {
  const rolls = diceWinningRolls(index, direction)
  return `${targetText(rolls)} %`
}
