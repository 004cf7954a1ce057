import type { Scope } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import { append } from '@pitboss/storage/journal/journal'
import { scopeKey } from './round-document.ts'
import { type DeadRequest, deadStream, movementKey, requestKey } from './round-stream.ts'
import type { RoundsJournal } from './round-streams.ts'

const writeMs = 5000

export type DeadRequestsStore = ReturnType<typeof createDeadRequestsStore>

/**
 * Dead requests: each claims the id that a round's entry would have claimed, so one insert decides. Source:
 * docs/contract.md, section 1, "What a refusal promises".
 */
export function createDeadRequestsStore({
  journal: { journal },
}: {
  journal: Pick<RoundsJournal, 'journal'>
}) {
  return {
    /** Kills the id of a page's request. False when a round, or another refusal, has it. */
    killRequest: (sequence: string, transactionId: string, dead: DeadRequest) =>
      kill(deadStream(sequence, journal.newWrite()), requestKey(sequence, transactionId), dead),

    /** Kills an id of the operator's server. False when a movement, or another refusal, has it. */
    killMovement: (scope: Scope, transactionId: string, dead: DeadRequest) =>
      kill(deadStream(scopeKey(scope), journal.newWrite()), movementKey(scope, transactionId), dead),
  }

  async function kill(stream: string, key: string, dead: DeadRequest): Promise<boolean> {
    const decided = { facts: [{ dead, ids: [key] }], claims: [{ key }] } as const
    const appended = await append(journal, stream, 0, decided, journal.steadyMs() + writeMs)
    if (appended.kind === 'unknown') throw new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1 })
    return appended.kind === 'appended'
  }
}
