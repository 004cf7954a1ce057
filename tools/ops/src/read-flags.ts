import { InvalidArgumentError } from 'commander'

const reasonCharactersMax = 512
const unitsS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** Reads a whole number from 1 to `most`. */
export function readCount(most: number): (text: string) => number {
  return (text) => {
    if (!/^[1-9]\d{0,8}$/.test(text) || Number(text) > most)
      throw new InvalidArgumentError(`It must be a whole number from 1 to ${most}.`)
    return Number(text)
  }
}

/** Reads `90s`, `5m`, `2h` or `1d`. @returns seconds */
export function readDuration(text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  if (count === undefined || unit === undefined)
    throw new InvalidArgumentError('It must look like 90s, 5m, 2h or 1d.')
  return Number(count) * (unitsS[unit] ?? 1)
}

/**
 * Reads an ISO 8601 time, or a date (its midnight, UTC). Dates that do not exist are refused.
 * @returns it in UTC with milliseconds
 */
export function readInstant(text: string): string {
  const [, year, month, day] =
    /^(\d{4})-(\d{2})-(\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/.exec(text) ?? []
  const instant = new Date(text)
  const exists =
    day === undefined
      ? false
      : new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day)
  if (!exists || Number.isNaN(instant.getTime()))
    throw new InvalidArgumentError('It must be an ISO 8601 time such as 2026-11-20T09:30:00Z.')
  return instant.toISOString()
}

const personCharactersMax = 128

/** Reads the name of a person. */
export function readPerson(text: string): string {
  const person = text.trim()
  if (person === '' || person.length > personCharactersMax)
    throw new InvalidArgumentError(`It must have 1 to ${personCharactersMax} characters.`)
  return person
}

/** Reads why something is done: some words, for the audit log. */
export function readReason(text: string): string {
  const reason = text.trim()
  if (reason === '' || reason.length > reasonCharactersMax)
    throw new InvalidArgumentError(`It must have 1 to ${reasonCharactersMax} characters.`)
  return reason
}
