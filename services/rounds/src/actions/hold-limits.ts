import type { Scope } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import { formatAmount } from '@pitboss/money/amount'
import { changeFenced } from '@pitboss/storage/change-fenced'
import { failpoint } from '@pitboss/runtime/failpoint'
import { type Charge, exceededLimit, isOfStake, type LimitBook, settleCharges } from '../rules/limit-book.ts'
import { limitsAt, type PlayerLimit, periodAt, playedMs } from '../rules/player-limits.ts'
import type { RoundState, Stake } from '../rules/round.ts'
import type { PlayerLimitsStore, StoredLimits } from '../storage/player-limits-store.ts'
import type { SessionsStore } from '../storage/sessions-store.ts'
import type { SpendsStore } from '../storage/spends-store.ts'
import type { Parts } from './parts.ts'
import type { Hooks } from '../hooks.ts'

const triesMax = 12
/** A session that was open in a period began at most its longest life before. */
const sessionMaxMs = 86_400_000
const minuteMs = 60_000

/** A player's limits with what counts towards them, as the rounds stand now. */
export type LimitsNow = {
  readonly stored: StoredLimits
  readonly limits: readonly PlayerLimit[]
  readonly book: LimitBook
  readonly now: Date
}

export type ReadLimits = ReturnType<typeof createReadLimits>

/** Creates the reading of limits. All times are the database's, so all replicas see the same period. */
export function createReadLimits({
  playerLimits,
  spends,
  sessions,
  clock,
  clockOffsetMs,
}: Pick<Parts, 'clock'> & {
  playerLimits: Pick<PlayerLimitsStore, 'find'>
  spends: Pick<SpendsStore, 'charged'>
  sessions: Pick<SessionsStore, 'timesOf'>
  /** Milliseconds by which `clock` is ahead of the database's. */
  clockOffsetMs: () => number
}) {
  const databaseNow = () => new Date(clock.now().getTime() - clockOffsetMs())
  return { databaseNow, read, played }

  async function read(scope: Scope, playerId: string): Promise<LimitsNow | null> {
    const stored = await playerLimits.find(scope, playerId)
    if (stored === null) return null
    const ids = [...new Set(stored.book.charges.map(({ roundId }) => roundId))]
    const charged = ids.length === 0 ? [] : await spends.charged(scope, ids)
    const now = databaseNow()
    return {
      stored,
      now,
      limits: limitsAt(stored.limits, now),
      book: settleCharges(stored.book, charged, now),
    }
  }

  /** Milliseconds in which the player had a session open, by the limits of time. */
  async function played(scope: Scope, playerId: string, { limits, now }: LimitsNow) {
    const timed = limits.filter(({ kind }) => kind === 'time')
    const first = Math.min(...timed.map(({ period }) => periodAt(period, now).from.getTime()))
    const times =
      timed.length === 0 ? [] : await sessions.timesOf(scope, playerId, new Date(first - sessionMaxMs))
    return timed.map((limit) => ({ limit, ms: playedMs(times, periodAt(limit.period, now).from, now) }))
  }
}

/**
 * Creates the step that holds stakes within the limits of their player, in all games and sessions and on all
 * replicas. A stake is charged between the storing of its intent and the wallet: so a charge whose round is
 * gone was never asked for, and the round alone says what became of any other. Nothing has to be written when
 * a round ends, and no crash leaves a charge behind that counts for ever.
 * Source: docs/contract.md, section 4, "Limits of a player".
 */
export function createHoldLimits({
  reading,
  playerLimits,
}: {
  reading: Pick<ReadLimits, 'read' | 'played'>
  playerLimits: Pick<PlayerLimitsStore, 'keep'>
}): Hooks['holdLimits'] {
  return function holdLimits(scope, { playerId, currency, limited }) {
    if (limited !== true) return null
    return { assertLeft, charge }

    async function assertLeft(minor: bigint): Promise<void> {
      const state = await reading.read(scope, playerId)
      if (state === null) return
      const exceeded =
        minor === 0n ? null : exceededLimit(state.limits, state.book, { currency, minor }, state.now)
      if (exceeded !== null) throw moneyExceeded(exceeded.limit, exceeded.left, state.now)
      for (const { limit, ms } of await reading.played(scope, playerId, state)) {
        if (BigInt(ms) >= limit.value * BigInt(minuteMs)) throw timeExceeded(limit, state.now)
      }
    }

    async function charge(round: RoundState, stake: Stake): Promise<ServiceError | null> {
      const reread = () => reading.read(scope, playerId)
      const charging = changeFenced<LimitsNow | null, { refusal: ServiceError | null }>({
        document: await reread(),
        change: (state) => chargeOnce(state, round, stake),
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

    /** Null when another write was first. */
    async function chargeOnce(state: LimitsNow | null, round: RoundState, stake: Stake) {
      if (state === null) return { refusal: null }
      const { stored, limits, book, now } = state
      const { transactionId, minor } = stake
      const added: Charge = { transactionId, roundId: round.id, currency: round.currency, minor, at: now }
      // An earlier try of this stake may have counted it already.
      const others = { ...book, charges: book.charges.filter((charge) => !isOfStake(charge, added)) }
      const exceeded = exceededLimit(limits, others, added, now)
      if (exceeded !== null) return { refusal: moneyExceeded(exceeded.limit, exceeded.left, now) }
      const charged = { ...others, charges: [...others.charges, added] }
      return (await playerLimits.keep(scope, playerId, stored.version, charged)) ? { refusal: null } : null
    }
  }
}

function moneyExceeded(limit: PlayerLimit, left: bigint, now: Date): ServiceError {
  const { kind, period, value } = limit
  const currency = limit.currency ?? ''
  const text = (minor: bigint) => `${formatAmount(minor, currency)} ${currency}`
  return exceeded(
    limit,
    `The ${kind} limit of this player is ${text(value)} a ${period}; ${text(left)} left`,
    now,
  )
}

function timeExceeded(limit: PlayerLimit, now: Date): ServiceError {
  return exceeded(
    limit,
    `The time limit of this player is ${limit.value} minutes a ${limit.period}; none left`,
    now,
  )
}

function exceeded({ kind, period }: PlayerLimit, text: string, now: Date): ServiceError {
  const message = `${text} until ${periodAt(period, now).to.toISOString()}.`
  return new ServiceError('BET_LIMIT_EXCEEDED', {
    message,
    details: [{ path: `limits.${kind}.${period}`, message }],
  })
}
