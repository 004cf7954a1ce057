import type { HandlerContext } from '@pitboss/bus/serve-calls'
import { ServiceError } from '@pitboss/errors/service-error'
import type { PlayContext } from '../context.ts'
import { waitsForStake } from '../rules/operator-round.ts'
import type { Win } from '../rules/round.ts'
import { scopeOf, type StoredRound } from '../storage/round-document.ts'
import { refreshMovements } from './change-round.ts'

const pollFirstMs = 15
const pollLastMs = 200
/** Kept for the win itself and the answer's way back. */
const reserveMs = 1500

/**
 * Waits, within the call's time, until no stake of the round is pending. Source: docs/contract.md, section 5.
 * @throws ServiceError WALLET_TIMEOUT for a call that may not wait at all; ROUND_NOT_FOUND
 */
export async function awaitStakes(
  context: PlayContext,
  stored: StoredRound,
  win: Pick<Win, 'final'>,
  call: HandlerContext,
): Promise<StoredRound> {
  let current = stored
  for (let pollMs = pollFirstMs; ; pollMs = Math.min(pollMs * 2, pollLastMs)) {
    if (waitsForStake(current.round, win)) current = await refreshMovements(context, current, call)
    if (!waitsForStake(current.round, win)) return current
    if (call.atOnce === true) throw new ServiceError('WALLET_TIMEOUT')
    if (context.clock.now().getTime() + pollMs >= call.deadlineAtMs - reserveMs) return current
    await context.wait(pollMs)
    const fresh = await context.rounds.find(scopeOf(current.round), current.round.id)
    if (fresh === null) throw new ServiceError('ROUND_NOT_FOUND')
    current = fresh
  }
}
