import type { ActedBy } from '@pitboss/contracts/audit'
import type { RequestOf } from '@pitboss/contracts/call'
import { type Caller, type Scope, scopeOf } from '@pitboss/contracts/caller'
import type { dashboardPutLimits as putting } from '@pitboss/contracts/endpoints/players'
import type { WantedLimit as Wanted } from '@pitboss/contracts/objects/player-limits'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import { formatAmount } from '@pitboss/money/amount'
import { failpoint } from '@pitboss/runtime/failpoint'
import { changeFenced } from '@pitboss/storage/change-fenced'
import type { Limited, RoundsContext } from '../../../context.ts'
import { assertCurrency, readAmount } from '../../../rules/limits.ts'
import type { RoundState, Stake } from '../../../rules/round.ts'
import { presentLimits, presentWanted } from '../records/present-protection.ts'
import * as rules from '../rules/player-limits.ts'
import type { PacesStore, SpendsStore } from '../storage/paces-store.ts'
import type { LimitChange, PlayerLimitsStore } from '../storage/player-limits-store.ts'
import type { StopsStore } from '../storage/stops-store.ts'

const triesMax = 12
const changesMax = 50
/** A session that was open in a period began at most its longest life before. */
const sessionMaxMs = 86_400_000

export type ProtectionContext = RoundsContext & {
  readonly stops: StopsStore
  readonly playerLimits: PlayerLimitsStore
  readonly spends: SpendsStore
  readonly paces: PacesStore
}

export type LimitsContext = Pick<RoundsContext, 'clock' | 'clockOffsetMs'> & {
  readonly sessions: Pick<RoundsContext['sessions'], 'timesOf'>
  readonly playerLimits: Pick<PlayerLimitsStore, 'find' | 'keep'>
  readonly rounds: Pick<RoundsContext['rounds'], 'charged'>
}

type PutRequest = RequestOf<typeof putting.call>
type Standing = Pick<LimitsNow, 'limits' | 'now'>
type LimitsNow = NonNullable<Awaited<ReturnType<typeof readLimits>>>

export async function showLimits(context: ProtectionContext, scope: Scope, playerId: string) {
  const none = { stored: { changes: [] }, limits: [], book: rules.emptyBook, now: databaseTime(context) }
  const { stored, ...state } = (await readLimits(context, scope, playerId)) ?? none
  const playedMs = await readPlayed(context, scope, playerId, state)
  return presentLimits({ scope, playerId, changes: stored.changes, ...state, playedMs })
}

/**
 * Sets all limits of a player. Its document is there, and its sessions are marked, before the first limit is:
 * so with the answer every stake is held against it, and a crash leaves either no limit or one that holds.
 * Asking for the same again changes nothing. Source: docs/contract.md, section 4, "Limits of a player".
 * @param by who is audited: the person, or the operator's server
 * @throws ServiceError VALIDATION_ERROR for an amount, or a limit that is named twice; CURRENCY_NOT_SUPPORTED
 */
export async function setLimits(context: ProtectionContext, asked: PutRequest, by: ActedBy) {
  const { caller, body } = asked
  const { player_id: playerId } = asked.params
  const { playerLimits, sessions, clock } = context
  const { scope } = caller
  const [wanted, reason] = [readWanted(body.limits, caller), body.reason ?? null]
  await playerLimits.begin(scope, playerId)
  await sessions.markLimited(scope, playerId, clock.now())
  await failpoint('rounds.limits-begun')
  await changeLimits(context, scope, playerId, async (state) => {
    if (state === null) throw new Error(`the limits of ${playerId} are gone`)
    const { stored, now } = state
    const last = stored.changes.at(-1) ?? null
    if (last !== null && textOf(last) === textOf({ limits: wanted, reason })) return true
    const next = {
      limits: rules.changeLimits(stored.limits, wanted, now),
      changes: [...stored.changes, { at: now, reason, limits: wanted }].slice(-changesMax),
    }
    const entry = context.audit.entry(by, {
      act: 'player.set-limits',
      object: { type: 'player', id: playerId },
      before: last === null ? null : shown(last.limits),
      after: shown(wanted),
    })
    return (await playerLimits.set(scope, playerId, stored.version, next, entry)) ? true : null
  })
  return showLimits(context, scope, playerId)
}

function shown(limits: readonly rules.WantedLimit[]) {
  return { limits: limits.map(presentWanted) }
}

function textOf({ limits, reason }: Pick<LimitChange, 'limits' | 'reason'>): string {
  return JSON.stringify([shown(limits), reason])
}

function readWanted(limits: readonly Wanted[], { account }: Caller): rules.WantedLimit[] {
  const read = limits.map((limit, at): rules.WantedLimit => {
    const { period } = limit
    if (limit.kind === 'time') return { kind: 'time', period, currency: null, value: BigInt(limit.minutes) }
    const { kind, currency, amount } = limit
    assertCurrency(currency, account, `limits.${at}.currency`)
    return { kind, period, currency, value: readAmount(amount, currency, `limits.${at}.amount`) }
  })
  const keys = read.map(rules.limitKey)
  const twice = keys.findIndex((key, at) => keys.indexOf(key) !== at)
  if (twice >= 0) throw invalidField(`limits.${twice}`, 'is named twice')
  return read
}

/** Converts a time of this process to the database's clock, so that all replicas use the same period. */
export function databaseTime(
  { clock, clockOffsetMs }: Pick<LimitsContext, 'clock' | 'clockOffsetMs'>,
  at = clock.now(),
): Date {
  return new Date(at.getTime() - clockOffsetMs())
}

async function readLimits(context: LimitsContext, scope: Scope, playerId: string) {
  const stored = await context.playerLimits.find(scope, playerId)
  if (stored === null) return null
  const ids = [...new Set(stored.book.charges.map(({ roundId }) => roundId))]
  const charged = ids.length === 0 ? [] : await context.rounds.charged(scope, ids)
  const now = databaseTime(context)
  const book = rules.settleCharges(stored.book, charged, now)
  return { stored, now, limits: rules.limitsAt(stored.limits, now), book }
}

/** Changes what is stored of a player's limits; `change` answers null when another write was first. */
async function changeLimits<Result>(
  context: LimitsContext,
  scope: Scope,
  playerId: string,
  change: (state: LimitsNow | null) => Promise<Result | null>,
): Promise<Result> {
  const reread = () => readLimits(context, scope, playerId)
  return changeFenced({ document: await reread(), reread, change, triesMax, name: `limits of ${playerId}` })
}

/** Reads the milliseconds in which the player had a session open, by the limits of time. */
async function readPlayed({ sessions }: LimitsContext, scope: Scope, playerId: string, state: Standing) {
  const { limits, now } = state
  const timed = limits
    .filter(({ kind }) => kind === 'time')
    .map((limit) => ({ limit, from: rules.periodAt(limit.period, now).from }))
  if (timed.length === 0) return new Map<rules.PlayerLimit, number>()
  const first = Math.min(...timed.map(({ from }) => from.getTime()))
  const times = await sessions.timesOf(scope, playerId, new Date(first - sessionMaxMs))
  return new Map(timed.map(({ limit, from }) => [limit, rules.playedMs(times, from, now)]))
}

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
  const exceeded = minor === 0n ? null : rules.exceededLimit(limits, book, { currency, minor }, now)
  if (exceeded !== null) throw moneyExceeded(exceeded, now)
  for (const [limit, ms] of await readPlayed(context, scope, playerId, state)) {
    const { value, period } = limit
    if (BigInt(ms) < value * BigInt(rules.minuteMs)) continue
    const message = `The time limit of this player is ${value} minutes a ${period}; none left`
    throw limitExceeded(limit, message, now)
  }
}

export async function chargeStake(context: LimitsContext, round: RoundState, stake: Stake) {
  const [scope, { id: roundId, playerId, currency }] = [scopeOf(round), round]
  const { transactionId, minor } = stake
  const charging = changeLimits<'counted' | ServiceError>(context, scope, playerId, async (state) => {
    if (state === null) return 'counted'
    const { stored, limits, book, now } = state
    const added: rules.Charge = { transactionId, roundId, currency, minor, at: now }
    // An earlier try of this stake may have counted it already.
    const others = book.charges.filter((charge) => !rules.isOfStake(charge, added))
    const exceeded = rules.exceededLimit(limits, { ...book, charges: others }, added, now)
    if (exceeded !== null) return moneyExceeded(exceeded, now)
    const next = { ...book, charges: [...others, added] }
    return (await context.playerLimits.keep(scope, playerId, stored.version, next)) ? 'counted' : null
  })
  // Nothing was charged: the intent can be taken back, and the stake tried again.
  const charged = await charging.catch((error: unknown) => {
    if (error instanceof ServiceError) return error
    throw error
  })
  if (charged !== 'counted') return charged
  await failpoint('rounds.stake-charged')
  return null
}

type Exceeded = NonNullable<ReturnType<typeof rules.exceededLimit>>

function moneyExceeded({ limit, left }: Exceeded, now: Date): ServiceError {
  const { kind, period, value } = limit
  const currency = limit.currency ?? ''
  const text = (minor: bigint) => `${formatAmount(minor, currency)} ${currency}`
  const message = `The ${kind} limit of this player is ${text(value)} a ${period}; ${text(left)} left`
  return limitExceeded(limit, message, now)
}

function limitExceeded({ kind, period }: rules.PlayerLimit, text: string, now: Date): ServiceError {
  const message = `${text} until ${rules.periodAt(period, now).to.toISOString()}.`
  const details = [{ path: `limits.${kind}.${period}`, message }]
  return new ServiceError('BET_LIMIT_EXCEEDED', { message, details })
}
