import type { Scope } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import { formatAmount } from '@pitboss/money/amount'
import { failpoint } from '@pitboss/runtime/failpoint'
import { changeFenced } from '@pitboss/storage/change-fenced'
import type { Limited } from '../../../context.ts'
import type { RoundState, Stake } from '../../../rules/round.ts'
import { scopeOf } from '../../../storage/round-document.ts'
import type { LimitsContext } from '../context.ts'
import { type Charge, exceededLimit, isOfStake, periodAt, type PlayerLimit } from '../rules/player-limits.ts'
import { type LimitsNow, readLimits, readPlayed } from './set-limits.ts'

const triesMax = 12
const minuteMs = 60_000

/*
 * Stakes are held within their player's limits, over all games, sessions and replicas. A stake is charged
 * between its intent and the wallet: a charge whose round is gone was never asked for, and the round decides
 * any other. So nothing is written when a round ends, and no crash leaves a charge that counts for ever.
 * Source: docs/contract.md, section 4, "Limits of a player".
 */

export async function assertWithinLimits(
  context: LimitsContext,
  scope: Scope,
  { playerId, currency, limited }: Limited,
  minor: bigint,
): Promise<void> {
  if (limited !== true) return
  const state = await readLimits(context, scope, playerId)
  if (state === null) return
  const { limits, book, now } = state
  const exceeded = minor === 0n ? null : exceededLimit(limits, book, { currency, minor }, now)
  if (exceeded !== null) throw moneyExceeded(exceeded.limit, exceeded.left, now)
  for (const [limit, ms] of await readPlayed(context, scope, playerId, state)) {
    const { value, period } = limit
    if (BigInt(ms) < value * BigInt(minuteMs)) continue
    const message = `The time limit of this player is ${value} minutes a ${period}; none left`
    throw limitExceeded(limit, message, now)
  }
}

export async function chargeStake(context: LimitsContext, round: RoundState, stake: Stake) {
  const [scope, playerId] = [scopeOf(round), round.playerId]
  const reread = () => readLimits(context, scope, playerId)
  const charging = changeFenced<LimitsNow | null, { refusal: ServiceError | null }>({
    document: await reread(),
    async change(state) {
      const counted = countStake(state, round, stake)
      if (counted === null || counted instanceof ServiceError) return { refusal: counted }
      const { version, book } = counted
      return (await context.playerLimits.keep(scope, playerId, version, book)) ? { refusal: null } : null
    },
    reread,
    triesMax,
    name: `limits of ${playerId}`,
  })
  // Nothing was charged: the intent can be taken back, and the stake tried again.
  const { refusal } = await charging.catch((error: unknown) => {
    if (error instanceof ServiceError) return { refusal: error }
    throw error
  })
  if (refusal === null) await failpoint('rounds.stake-charged')
  return refusal
}

/** Counts a stake in the book; the refusal where it exceeds a limit, null for a player without limits. */
function countStake(state: LimitsNow | null, round: RoundState, { transactionId, minor }: Stake) {
  if (state === null) return null
  const { stored, limits, book, now } = state
  const added: Charge = { transactionId, roundId: round.id, currency: round.currency, minor, at: now }
  // An earlier try of this stake may have counted it already.
  const others = { ...book, charges: book.charges.filter((charge) => !isOfStake(charge, added)) }
  const exceeded = exceededLimit(limits, others, added, now)
  if (exceeded !== null) return moneyExceeded(exceeded.limit, exceeded.left, now)
  return { version: stored.version, book: { ...others, charges: [...others.charges, added] } }
}

function moneyExceeded(limit: PlayerLimit, left: bigint, now: Date): ServiceError {
  const { kind, period, value } = limit
  const currency = limit.currency ?? ''
  const text = (minor: bigint) => `${formatAmount(minor, currency)} ${currency}`
  const message = `The ${kind} limit of this player is ${text(value)} a ${period}; ${text(left)} left`
  return limitExceeded(limit, message, now)
}

function limitExceeded({ kind, period }: PlayerLimit, text: string, now: Date): ServiceError {
  const message = `${text} until ${periodAt(period, now).to.toISOString()}.`
  const details = [{ path: `limits.${kind}.${period}`, message }]
  return new ServiceError('BET_LIMIT_EXCEEDED', { message, details })
}
