import type { HandlerContext } from '@pitboss/bus/serve-calls'
import type { Caller } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import { graceMs } from '../rules/due-at.ts'
import { resourceOf, unknownOutcome } from '../rules/movement.ts'
import type { RoundState } from '../rules/round.ts'
import type { StoredRound } from '../storage/round-document.ts'
import type { Parts } from './parts.ts'
import type { ReadRounds } from './read-rounds.ts'
import { showFirst } from './show-first.ts'

export type VoidRound = (caller: Caller, roundId: string, context: HandlerContext) => Promise<RoundState>

const claimTriesMax = 10

/**
 * Voids a round whose stake was never taken for certain. The round is VOIDED once the wallet has acknowledged
 * the rollback, and PENDING while it is owed. A stake that turns out to be taken, or refused, decides the
 * round instead. Source: docs/contract.md, section 4.
 * @throws ServiceError ROUND_NOT_FOUND, ROUND_IN_PROGRESS, ROUND_ALREADY_SETTLED
 */
export function createVoidRound({
  rounds,
  reads,
  settleRound,
  voidStake,
  clock,
}: Pick<Parts, 'rounds' | 'settleRound' | 'voidStake' | 'clock'> & {
  reads: Pick<ReadRounds, 'find'>
}): VoidRound {
  /** Claims the round, so that the request of its stake does not take the intent back at the same time. */
  async function claimPending(caller: Caller, roundId: string): Promise<StoredRound> {
    for (let tries = 1; tries <= claimTriesMax; tries++) {
      const stored = await reads.find(caller, roundId)
      if (stored.round.status !== 'PENDING') throw notPending(stored.round)
      const claimed = await rounds.claim(stored, new Date(clock.now().getTime() + graceMs))
      if (claimed !== null) return claimed
    }
    throw new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1 })
  }

  return (caller, roundId, context) =>
    showFirst(
      rounds,
      ({ id }) => id,
      () => voidRound(caller, roundId, context),
    )

  async function voidRound(caller: Caller, roundId: string, context: HandlerContext): Promise<RoundState> {
    const stored = await claimPending(caller, roundId)
    const [stake] = stored.round.stakes
    const tried =
      stake?.state === 'ASKED'
        ? await voidStake(stored, stake.transactionId, context).catch((error: unknown) => {
            if (context.atOnce !== true || !(error instanceof ServiceError)) throw error
            throw unknownOutcome(resourceOf(stored.round, stake.transactionId), error)
          })
        : await settleRound(stored, { recover: false, context })
    const { round } = tried
    if (round.status === 'VOIDED' || round.status === 'PENDING') return round
    await settleRound(tried, { recover: false, context })
    throw notPending(round)
  }
}

function notPending({ status }: RoundState): ServiceError {
  const plays = status === 'OPEN' || status === 'SETTLING'
  return new ServiceError(plays ? 'ROUND_IN_PROGRESS' : 'ROUND_ALREADY_SETTLED')
}
