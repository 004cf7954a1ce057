import { ServiceError } from '@pitboss/errors/service-error'
import type { Clock } from '@pitboss/runtime/clock'
import { mapBounded } from '@pitboss/runtime/map-bounded'
import { shuffled } from '@pitboss/runtime/shuffled'
import type { PlayContext } from '../context.ts'
import { abandonedAt, dueAt, graceMs, isRecent } from '../rules/due-at.ts'
import { openMovementIds, owesSomething } from '../rules/round.ts'
import type { StoredRound } from '../storage/round-document.ts'
import type { RoundsStore } from '../storage/rounds-store.ts'
import { applyMessage } from './change-round.ts'
import { settleRound } from './settle-round.ts'

/** Time for one round: a wallet that takes longer must not hold up the rounds of others. */
const budgetMs = 2000
const atOnceMax = 32
/** Bounds of one sweep: it ends within about half a minute, even if every round uses up its time. */
const tenantsMax = 32
const roundsMax = 256

/**
 * Takes the steps that a round owes now. Its claim stops a waiting request from taking an intent back. Never
 * rejects: what could not be settled stays due. @returns false when another worker has claimed it
 */
export async function recoverRound(context: PlayContext, stored: StoredRound): Promise<boolean> {
  const { round, checks } = stored
  const { leftFrom, scaleMs } = context
  const now = context.clock.now()
  const later = dueAt(round, { now, checks: checks + 1, scaleMs })
  const until = later !== null && later > now ? later : new Date(now.getTime() + graceMs)
  try {
    const claimed = await context.rounds.claim(stored, until)
    if (claimed === null) return false
    const mayBeLeft = leftFrom === null || now >= leftFrom
    const left = mayBeLeft && round.status === 'OPEN' && abandonedAt(round, scaleMs) <= now
    const abandon = { type: 'abandon', since: round.lastActionAt } as const
    const current = left ? await applyMessage(context, claimed, abandon) : claimed
    const call = { requestId: context.newId('req'), deadlineAtMs: context.clock.now().getTime() + budgetMs }
    const known = new Set<string>()
    const onKnown = (transactionId: string) => known.add(transactionId)
    const settled = await settleRound(context, current, { recover: true, call, onKnown })
    if (settled.version === claimed.version) await postpone(context, settled, known)
  } catch (err) {
    const expected = err instanceof ServiceError && err.code !== 'INTERNAL_ERROR'
    const line = { err, round_id: round.id, checks }
    context.logger[expected ? 'warn' : 'error'](line, 'round.deferred')
  }
  return true
}

/** Lets a round rest up to a minute when wallet-bridge knows all that it owes: an event will come. */
async function postpone(context: PlayContext, stored: StoredRound, known: ReadonlySet<string>) {
  const { rounds, clock, scaleMs } = context
  const { round, checks } = stored
  const open = openMovementIds(round)
  if (open.length === 0 || !open.every((id) => known.has(id))) return
  const later = dueAt(round, { now: clock.now(), checks, scaleMs, isKnown: true })
  if (later !== null && stored.dueAt !== null && later > stored.dueAt) await rounds.postpone(stored, later)
}

/**
 * Creates the sweep of due rounds: those that a crash, a silent wallet or a player has left. It stops when
 * told to and answers 0 when more are due, so the next sweep follows at once. Every replica sweeps: a claim,
 * which needs no broker, decides who works on a round. Tenants take turns round by round, and each sweep
 * starts after the last one's tenant, so a tenant that owes very many rounds delays nobody else's. @param
 * random shuffles a tenant's rounds: two replicas seldom work on the same one
 */
export function createSweepRounds(
  context: { readonly rounds: Pick<RoundsStore, 'findDue'>; readonly clock: Clock },
  recover: (stored: StoredRound) => Promise<boolean>,
  random: () => number,
): (stopping: AbortSignal) => Promise<number | void> {
  let sweptTo = ''
  return async function sweepRounds(stopping) {
    const now = context.clock.now()
    const found = await context.rounds.findDue(now, { after: sweptTo, tenantsMax, roundsMax })
    sweptTo = found.sweptTo
    let recovered = 0
    const due = inTurns(found.pages.map((page) => shuffled(page, random)))
    await mapBounded(due, atOnceMax, async (stored) => {
      if (!stopping.aborted && (await recover(stored))) recovered += 1
    })
    return found.mayHaveMore && recovered > 0 ? 0 : undefined
  }
}

/** The items of all pages: the first of each, then the second of each, and so on. */
function inTurns<Item>(pages: readonly (readonly Item[])[]): Item[] {
  const longest = Math.max(0, ...pages.map(({ length }) => length))
  return Array.from({ length: longest }, (_, at) => pages.flatMap((page) => page.slice(at, at + 1))).flat()
}

/** A younger change is still in the hands of its request. Less than wallet-bridge's first retry delay. */
const freshMs = 800

/** Brings a round up to date after one of its movements has ended. @returns whether that changed it */
export async function handleLateMovement(context: PlayContext, roundId: string) {
  const { rounds, memory, clock } = context
  const isFresh = (at: Date) => isRecent(at, clock.now(), freshMs)
  const before = memory.changes.get(roundId) ?? null
  if (before !== null && isFresh(before)) return 'unchanged'
  const stored = await rounds.findAnywhere(roundId)
  if (stored === null || !owesSomething(stored.round) || isFresh(stored.round.updatedAt)) return 'unchanged'
  const claimed = await recoverRound(context, stored)
  const after = memory.changes.get(roundId)
  return claimed && after?.getTime() !== before?.getTime() ? 'repaired' : 'unchanged'
}
