import type { ActedBy } from '@pitboss/contracts/audit'
import type { Caller, Scope } from '@pitboss/contracts/caller'
import type { dashboardPutLimits as putting } from '@pitboss/contracts/endpoints/players'
import type { WantedLimit as Wanted } from '@pitboss/contracts/objects/player-limits'
import { invalidField } from '@pitboss/errors/service-error'
import { failpoint } from '@pitboss/runtime/failpoint'
import { changeFenced } from '@pitboss/storage/change-fenced'
import type { z } from 'zod'
import { assertCurrency, readAmount } from '../../../rules/limits.ts'
import type { LimitsContext, ProtectionContext } from '../context.ts'
import { presentLimits, presentWanted } from '../records/present-protection.ts'
import {
  changeLimits,
  emptyBook,
  limitKey,
  limitsAt,
  periodAt,
  playedMs,
  type PlayerLimit,
  settleCharges,
  type WantedLimit,
} from '../rules/player-limits.ts'
import type { LimitChange } from '../storage/player-limits-store.ts'

type PutRequest = z.output<typeof putting.call.request>

const triesMax = 12
const changesMax = 50

export async function showLimits(context: ProtectionContext, scope: Scope, playerId: string) {
  const none = { stored: { changes: [] }, limits: [], book: emptyBook, now: databaseNow(context) }
  const { stored, ...state } = (await readLimits(context, scope, playerId)) ?? none
  const played = await readPlayed(context, scope, playerId, state)
  return presentLimits({ scope, playerId, changes: stored.changes, ...state, playedMs: played })
}

/**
 * Sets all limits of a player. Its document is there, and its sessions are marked, before the first limit is:
 * so with the answer every stake is held against it, and a crash leaves either no limit or one that holds.
 * Asking for the same again changes nothing. Source: docs/contract.md, section 4, "Limits of a player".
 * @param by who is audited: the person, or the operator's server
 * @throws ServiceError VALIDATION_ERROR for an amount, or a limit that is named twice; CURRENCY_NOT_SUPPORTED
 */
export async function setLimits(context: ProtectionContext, request: PutRequest, by: ActedBy) {
  const { caller, body } = request
  const { player_id: playerId } = request.params
  const { playerLimits, sessions, clock } = context
  const { scope } = caller
  const [wanted, reason] = [readWanted(body.limits, caller), body.reason ?? null]
  await playerLimits.begin(scope, playerId)
  await sessions.markLimited(scope, playerId, clock.now())
  await failpoint('rounds.limits-begun')
  const read = async () => {
    const state = await readLimits(context, scope, playerId)
    if (state === null) throw new Error(`the limits of ${playerId} are gone`)
    return state
  }
  await changeFenced({
    document: await read(),
    reread: read,
    async change({ stored, now }) {
      const last = stored.changes.at(-1) ?? null
      if (last !== null && textOf(last) === textOf({ limits: wanted, reason })) return true
      const next = {
        limits: changeLimits(stored.limits, wanted, now),
        changes: [...stored.changes, { at: now, reason, limits: wanted }].slice(-changesMax),
      }
      const entry = context.audit.entry(by, {
        act: 'player.set-limits',
        object: { type: 'player', id: playerId },
        before: last === null ? null : shown(last.limits),
        after: shown(wanted),
      })
      return (await playerLimits.set(scope, playerId, stored.version, next, entry)) ? true : null
    },
    triesMax,
    name: `limits of ${playerId}`,
  })
  return showLimits(context, scope, playerId)
}

function shown(limits: readonly WantedLimit[]) {
  return { limits: limits.map(presentWanted) }
}

function textOf({ limits, reason }: Pick<LimitChange, 'limits' | 'reason'>): string {
  return JSON.stringify([shown(limits), reason])
}

function readWanted(limits: readonly Wanted[], { account }: Caller): WantedLimit[] {
  const read = limits.map((limit, at): WantedLimit => {
    const { period } = limit
    if (limit.kind === 'time') return { kind: 'time', period, currency: null, value: BigInt(limit.minutes) }
    const { kind, currency, amount } = limit
    assertCurrency(currency, account, `limits.${at}.currency`)
    return { kind, period, currency, value: readAmount(amount, currency, `limits.${at}.amount`) }
  })
  const keys = read.map(limitKey)
  const twice = keys.findIndex((key, at) => keys.indexOf(key) !== at)
  if (twice >= 0) throw invalidField(`limits.${twice}`, 'is named twice')
  return read
}

/** A session that was open in a period began at most its longest life before. */
const sessionMaxMs = 86_400_000

export type LimitsNow = NonNullable<Awaited<ReturnType<typeof readLimits>>>
type Standing = Pick<LimitsNow, 'limits' | 'now'>

/** Reads the database's time, by which all replicas see the same period. */
function databaseNow({ clock, clockOffsetMs }: Pick<LimitsContext, 'clock' | 'clockOffsetMs'>): Date {
  return new Date(clock.now().getTime() - clockOffsetMs())
}

export async function readLimits(context: LimitsContext, scope: Scope, playerId: string) {
  const stored = await context.playerLimits.find(scope, playerId)
  if (stored === null) return null
  const ids = [...new Set(stored.book.charges.map(({ roundId }) => roundId))]
  const charged = ids.length === 0 ? [] : await context.rounds.charged(scope, ids)
  const now = databaseNow(context)
  return {
    stored,
    now,
    limits: limitsAt(stored.limits, now),
    book: settleCharges(stored.book, charged, now),
  }
}

/** Reads the milliseconds in which the player had a session open, by the limits of time. */
export async function readPlayed(context: LimitsContext, scope: Scope, playerId: string, state: Standing) {
  const { limits, now } = state
  const timed = limits.filter(({ kind }) => kind === 'time')
  if (timed.length === 0) return new Map<PlayerLimit, number>()
  const first = Math.min(...timed.map(({ period }) => periodAt(period, now).from.getTime()))
  const times = await context.sessions.timesOf(scope, playerId, new Date(first - sessionMaxMs))
  return new Map(timed.map((limit) => [limit, playedMs(times, periodAt(limit.period, now).from, now)]))
}
