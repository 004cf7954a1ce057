import { longestWaitMs } from './ladder.ts'
import type { Attempt, Movement } from './rows.ts'
import type { Verdict } from './verdict.ts'

const name = 'ladder: the next try is never further away than the age says'
/**
 * Tolerance between the end of a try and the instant from which the next one is counted: a process may stand
 * still there.
 */
const slackMs = 13_000

/** The tries of credits and rollbacks against the retry schedule of docs/contract.md, section 5. */
export function checkLadder(
  tried: readonly { movement: Movement; attempts: readonly Attempt[] }[],
  { timeScale, clockSlackMs }: { timeScale: number; clockSlackMs: number },
  verdict: Verdict,
): void {
  for (const { movement, attempts } of tried) {
    if (movement.type === 'BET') continue
    for (const { attempt, sent_at: sentAt, latency_ms: latencyMs, next_attempt_at: nextAt } of attempts) {
      if (nextAt === null) continue
      const endMs = Date.parse(sentAt) + (latencyMs ?? 0) + slackMs + clockSlackMs
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
