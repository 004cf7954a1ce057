import { setTimeout as delay } from 'node:timers/promises'
import { hasAnswer } from '../rules/movement-outcome.ts'
import type { MovementDocument } from '../storage/movement-document.ts'
import type { AdvanceDue } from './advance-due.ts'
import type { ApplyDeps } from './apply-message.ts'

const pollFirstMs = 10
const pollLastMs = 200

export type AwaitFirstTry = (
  document: MovementDocument,
  until: { requestId: string; deadlineAtMs: number },
) => Promise<MovementDocument>

/**
 * Waits for the end of a movement's first try, which this or another process makes; makes it when none does.
 * @returns the movement; past the deadline as it is then, and the resolver goes on with it
 */
export function createAwaitFirstTry({
  advance,
  movements,
  clock,
  wait = (ms) => delay(ms, null, { ref: false }),
}: Pick<ApplyDeps, 'movements' | 'clock' | 'wait'> & { advance: AdvanceDue }): AwaitFirstTry {
  return async function awaitFirstTry(given, { requestId, deadlineAtMs }) {
    let document = given
    let pollMs = pollFirstMs
    while (!hasAnswer(document)) {
      const leftMs = deadlineAtMs - clock.now().getTime()
      if (leftMs <= 0) break
      const work = advance.advance(document, requestId)
      const ended = await Promise.race([work, wait(leftMs).then(() => null)])
      if (ended === null) {
        // The work goes on; should it fail, the resolver finds the movement due.
        work.catch(() => undefined)
        break
      }
      document = (await movements.findById(document._id)) ?? ended.document
      if (hasAnswer(document)) break
      await wait(Math.min(pollMs, Math.max(1, leftMs)))
      pollMs = Math.min(pollMs * 2, pollLastMs)
    }
    return document
  }
}
