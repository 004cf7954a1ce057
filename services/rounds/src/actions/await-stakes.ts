import { setTimeout as delay } from 'node:timers/promises'
import type { HandlerContext } from '@pitboss/bus/serve-calls'
import { ServiceError } from '@pitboss/errors/service-error'
import { waitsForStake } from '../rules/operator-round.ts'
import type { Win } from '../rules/round.ts'
import { scopeOf, type StoredRound } from '../storage/round-document.ts'
import type { Parts } from './parts.ts'

const pollFirstMs = 15
const pollLastMs = 200
/** Kept for the win itself and the answer's way back. */
const reserveMs = 1500

export type AwaitStakesDeps = Pick<Parts, 'rounds' | 'actor' | 'clock'> & {
  /** A simulation waits in a time of its own. */
  wait?: (ms: number) => Promise<unknown>
}

export type AwaitStakes = (
  stored: StoredRound,
  win: Pick<Win, 'final'>,
  context: HandlerContext,
) => Promise<StoredRound>

/**
 * Waits with a win until no stake of its round is pending, for as long as its call may; the rules refuse it
 * then if one still is. Source: docs/contract.md, section 5.
 * @throws ServiceError WALLET_TIMEOUT for a call that may not wait at all; ROUND_NOT_FOUND
 */
export function createAwaitStakes({ rounds, actor, clock, wait = delay }: AwaitStakesDeps): AwaitStakes {
  return async function awaitStakes(stored, win, context) {
    let current = stored
    for (let pollMs = pollFirstMs; ; pollMs = Math.min(pollMs * 2, pollLastMs)) {
      if (waitsForStake(current.round, win)) current = await actor.catchUp(current, context)
      if (!waitsForStake(current.round, win)) return current
      if (context.atOnce === true) throw new ServiceError('WALLET_TIMEOUT')
      if (clock.now().getTime() + pollMs >= context.deadlineAtMs - reserveMs) return current
      await wait(pollMs)
      const fresh = await rounds.find(scopeOf(current.round), current.round.id)
      if (fresh === null) throw new ServiceError('ROUND_NOT_FOUND')
      current = fresh
    }
  }
}
