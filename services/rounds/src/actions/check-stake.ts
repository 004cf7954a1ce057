import type { Caller } from '@pitboss/contracts/caller'
import type { TransactionBody } from '@pitboss/contracts/objects/movement'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Clock } from '@pitboss/runtime/clock'
import type { CatalogueEntry } from '../rules/catalogue.ts'
import { isWithin, type Limits, narrow } from '../rules/limits.ts'
import { assertMayPlay } from '../rules/live-rules.ts'
import { readAmount } from '../rules/read-amount.ts'
import { type SessionDocument, type SessionsStore, stakeRangeOf } from '../storage/sessions-store.ts'
import type { GameAccess } from './game-access.ts'

export type BetBody = Extract<TransactionBody, { type: 'BET' }>

export type CheckStake = ReturnType<typeof createCheckStake>

/** Creates the checks of a stake of the operator's own server, in a new round or in an open one. */
export function createCheckStake({
  sessions,
  access,
  clock,
}: {
  sessions: Pick<SessionsStore, 'find'>
  access: Pick<GameAccess, 'offered'>
  clock: Clock
}) {
  return { findSession, checkStake }

  /** @throws ServiceError SESSION_NOT_FOUND */
  async function findSession({ scope }: Caller, body: BetBody): Promise<SessionDocument> {
    const session = await sessions.find(scope, body.session_id)
    if (session === null) throw new ServiceError('SESSION_NOT_FOUND')
    return session
  }

  /**
   * @throws ServiceError CURRENCY_MISMATCH, VALIDATION_ERROR at `amount`, then what `assertMayPlay` and
   * `offered` refuse, then BET_LIMIT_EXCEEDED
   */
  async function checkStake(
    caller: Caller,
    body: BetBody,
    session: SessionDocument,
  ): Promise<{ entry: CatalogueEntry; amount: bigint; limits: Limits }> {
    if (body.currency !== session.currency) throw new ServiceError('CURRENCY_MISMATCH')
    const amount = readAmount(body.amount, session.currency, 'amount')
    assertMayPlay(caller, session, clock.now())
    const game = await access.offered(caller.scope.operatorId, session.game)
    const limits = game.limits(session.currency)
    if (!isWithin(narrow(limits, stakeRangeOf(session)), amount)) throw new ServiceError('BET_LIMIT_EXCEEDED')
    return { entry: game.entry, amount, limits }
  }
}
