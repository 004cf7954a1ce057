import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { Caller } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import type { PlayContext } from '../context.ts'
import { graceMs } from '../rules/due-at.ts'
import { resourceOf, unknownOutcome } from '../rules/movement.ts'
import type { RoundState } from '../rules/round.ts'
import type { StoredRound } from '../storage/round-document.ts'
import { findRound } from './read-rounds.ts'
import { settleRound, voidStake } from './settle-round.ts'

const claimTriesMax = 10

/**
 * Voids a round whose stake was never taken for certain; it is PENDING until the wallet acknowledges the
 * rollback. A stake that was taken or refused decides the round instead. Source: docs/contract.md, section 4.
 * @throws ServiceError ROUND_NOT_FOUND, ROUND_IN_PROGRESS, ROUND_ALREADY_SETTLED
 */
export async function voidRound(
  context: PlayContext,
  caller: Caller,
  roundId: string,
  call: HandlerContext,
): Promise<RoundState> {
  const stored = await claimPending(context, caller, roundId)
  const [stake] = stored.round.stakes
  const tried =
    stake?.state === 'ASKED'
      ? await voidStake(context, stored, stake.transactionId, call).catch((error: unknown) => {
          if (call.atOnce !== true || !(error instanceof ServiceError)) throw error
          throw unknownOutcome(resourceOf(stored.round, stake.transactionId), error)
        })
      : await settleRound(context, stored, { recover: false, call })
  const { round } = tried
  if (round.status === 'VOIDED' || round.status === 'PENDING') return round
  await settleRound(context, tried, { recover: false, call })
  throw notPending(round)
}

/** Claims the round, so that the request of its stake does not take the intent back at the same time. */
async function claimPending(context: PlayContext, caller: Caller, roundId: string): Promise<StoredRound> {
  for (let tries = 1; tries <= claimTriesMax; tries++) {
    const stored = await findRound(context, caller, roundId)
    if (stored.round.status !== 'PENDING') throw notPending(stored.round)
    const claimed = await context.rounds.claim(stored, new Date(context.clock.now().getTime() + graceMs))
    if (claimed !== null) return claimed
  }
  throw new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1 })
}

function notPending({ status }: RoundState): ServiceError {
  const plays = status === 'OPEN' || status === 'SETTLING'
  return new ServiceError(plays ? 'ROUND_IN_PROGRESS' : 'ROUND_ALREADY_SETTLED')
}
