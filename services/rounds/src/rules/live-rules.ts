import type { Account, Caller } from '@pitboss/contracts/caller'
import { conflict, ServiceError } from '@pitboss/errors/service-error'
import { assertCurrency } from './limits.ts'

export const neverEnds = new Date('9999-12-31T23:59:59.999Z')

/**
 * Refuses a new stake. @throws ServiceError PLAYER_BLOCKED, SESSION_CLOSED, SESSION_EXPIRED, the refusals of
 * `assertRealMoney`, CURRENCY_NOT_SUPPORTED, in this order
 */
export function assertMayPlay(
  { scope, account }: Pick<Caller, 'scope' | 'account'>,
  session: SessionEnd & { readonly currency: string; readonly stop?: { readonly endsAt: Date } },
  now: Date,
): void {
  if (session.stop !== undefined && now < session.stop.endsAt) throw playerStopped(session.stop.endsAt)
  assertSessionOpen(session, now)
  assertRealMoney(scope.environment, account)
  assertCurrency(session.currency, account, null)
}

/**
 * Refuses new real-money play; rounds under way go on. Source: docs/contract.md, section 3.
 * @throws ServiceError FORBIDDEN (names the plan), OPERATOR_NOT_LIVE, REAL_MONEY_DISABLED (names the switch)
 */
export function assertRealMoney(environment: 'SANDBOX' | 'LIVE', account: Account): void {
  if (environment !== 'LIVE') return
  if (account.plan !== 'paid') {
    const message = 'Live play needs the paid plan; this account is on the free plan.'
    throw new ServiceError('FORBIDDEN', { message })
  }
  if (!account.approved) {
    const message =
      'Live play needs an approved account; this account is on the paid plan but not approved yet.'
    throw new ServiceError('FORBIDDEN', { message })
  }
  if (account.live_play === 'suspended') throw new ServiceError('OPERATOR_NOT_LIVE')
  const where = !account.platform_real_money ? 'the whole platform' : 'this account'
  if (!account.platform_real_money || account.live_play === 'off') {
    const message = `Real-money play is switched off on ${where}.`
    throw new ServiceError('REAL_MONEY_DISABLED', { message })
  }
}

export type SessionTimes = {
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly closedAt: Date | null
}

type SessionEnd = Omit<SessionTimes, 'createdAt'>

/** A session's status, from its times and the clock. Source: docs/contract.md, section 4. */
export function sessionStatusAt(session: SessionEnd, now: Date): 'ACTIVE' | 'EXPIRED' | 'CLOSED' {
  if (session.closedAt !== null) return 'CLOSED'
  return now >= session.expiresAt ? 'EXPIRED' : 'ACTIVE'
}

type Checked = Pick<SessionTimes, 'createdAt'> & {
  readonly realityCheckS?: number
  readonly realityCheckedAt?: Date
}

/** The next reality check; null for none. Source: docs/contract.md, section 4, "Jurisdictions". */
export function realityCheckAt({ realityCheckS, realityCheckedAt, createdAt }: Checked): Date | null {
  if (realityCheckS === undefined) return null
  return new Date((realityCheckedAt ?? createdAt).getTime() + realityCheckS * 1000)
}

export function assertNoRealityCheck(session: Checked, now: Date): void {
  const dueAt = realityCheckAt(session)
  if (dueAt === null || now < dueAt) return
  throw conflict('A reality check is due: the player goes on or stops before the next game.')
}

export function assertSessionOpen(session: SessionEnd, now: Date): void {
  const status = sessionStatusAt(session, now)
  if (status === 'CLOSED') throw new ServiceError('SESSION_CLOSED')
  if (status === 'EXPIRED') throw new ServiceError('SESSION_EXPIRED')
}

export function playerStopped(endsAt: Date): ServiceError {
  const until = endsAt < neverEnds ? `until ${endsAt.toISOString()}` : 'until the stop is lifted'
  return new ServiceError('PLAYER_BLOCKED', { message: `This player is stopped ${until}.` })
}
