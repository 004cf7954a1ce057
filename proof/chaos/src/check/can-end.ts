import type { RoundState } from '@pitboss/rounds/rules/round'

/** Whether the round will be looked at again, or can be ended by who drives it. */
export function canEnd(round: RoundState, dueAt: Date | null): boolean {
  const { status, driver, stakes, wins, reversals } = round
  const owed = [...wins, ...reversals].some(({ state }) => state === 'OWED')
  if (owed || status === 'PENDING') return dueAt !== null
  if (status === 'SETTLING') return false
  if (status !== 'OPEN') return true
  if (driver === 'game') return dueAt !== null
  const isAsked = stakes.some(({ state }) => state === 'ASKED')
  return isAsked ? dueAt !== null : stakes.some(({ state }) => state === 'TAKEN')
}
