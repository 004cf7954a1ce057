import { type Absences, nobodyStoodMs } from './absences.ts'
import { longestWaitMs } from './ladder.ts'
import type { Attempt, Movement } from './rows.ts'
import type { Verdict } from './verdict.ts'

const name = 'ladder: the next try is never further away than the age says'
/**
 * Tolerance between the end of a try and the instant from which the next one is counted: a process may stand
 * still there.
 */
const slackMs = 13_000

/**
 * The tries of credits and rollbacks against the retry schedule of docs/contract.md, section 5. A try whose
 * answer nobody stored is found by a replica that stands: the time in which none did is added. One that is
 * lost in a copy of the database counts for nothing: it is found when the copy comes back.
 */
export function checkLadder(
  tried: readonly { movement: Movement; attempts: readonly Attempt[] }[],
  {
    timeScale,
    clockSlackMs,
    absences,
    isSetBack,
  }: {
    timeScale: number
    clockSlackMs: number
    absences: Absences
    /** Whether a restore has set a movement back to what it was before. */
    isSetBack: (transactionId: string) => boolean
  },
  verdict: Verdict,
): void {
  for (const { movement, attempts } of tried) {
    if (movement.type === 'BET') continue
    for (const { attempt, sent_at: sentAt, latency_ms: latencyMs, next_attempt_at: nextAt } of attempts) {
      if (nextAt === null || (latencyMs === null && isSetBack(movement.transaction_id))) continue
      const sentMs = Date.parse(sentAt)
      const awayMs = latencyMs === null ? nobodyStoodMs(absences, sentMs, Date.parse(nextAt)) : 0
      const endMs = sentMs + (latencyMs ?? 0) + awayMs + slackMs + clockSlackMs
      const ageMs = endMs - Date.parse(movement.created_at)
      const waitMs = Date.parse(nextAt) - endMs
      const mostMs = longestWaitMs(ageMs, (ms) => ms / timeScale)
      verdict.check(
        name,
        waitMs <= mostMs,
        () =>
          `${movement.type} ${movement.transaction_id} of ${movement.created_at}: after try ${attempt} of ${sentAt} the next is ${nextAt}`,
      )
    }
  }
}
