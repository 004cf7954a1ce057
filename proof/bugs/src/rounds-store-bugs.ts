import { createHash } from 'node:crypto'
import type { Scope } from '@pitboss/contracts/caller'
import { newServerSeed } from '@pitboss/fairness/server-seed'
import type { Hooks } from '@pitboss/rounds/context'
import type { CommitmentsStore } from '@pitboss/rounds/storage/commitments-store'
import type { GrantsStore } from '@pitboss/rounds/storage/grants-store'
import type { PlayerLimitsStore } from '@pitboss/rounds/wings/protection/storage/player-limits-store'
import { idCharacters } from '@pitboss/contracts/id-characters'
import { sequenceOf, type RoundWrite, type StoredRound } from '@pitboss/rounds/storage/round-document'
import type { PacesStore } from '@pitboss/rounds/wings/protection/storage/paces-store'
import type { ReportsStore } from '@pitboss/rounds/wings/reports/storage/reports-store'
import type { RoundsStore } from '@pitboss/rounds/storage/rounds-store'
import type { SessionsStore } from '@pitboss/rounds/storage/sessions-store'
import type { HasBug } from './bugs.ts'

/** The bugs of the storage of rounds. Each store goes through unchanged unless its bug is named. */

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const looksMax = 2
const charactersCompared = 64

/** Leaves out nonces, events or rounds that are due, shows others' rounds, or writes over others' changes. */
export function roundsStoreWith(rounds: RoundsStore, has: HasBug): RoundsStore {
  if (has('rounds.nonce-skipped')) {
    return {
      ...rounds,
      async last(sequence) {
        const last = await rounds.last(sequence)
        return { ...last, nonce: last.nonce + (last.nonce % 3 === 1 ? 1 : 0) }
      },
    }
  }
  if (has('rounds.nonce-of-removed-lost')) return withoutNoncesOfRemoved(rounds)
  if (has('storage.fence-lost')) {
    return {
      ...rounds,
      async update(stored, write) {
        const fresh = await rounds.findAnywhere(stored.round.id)
        return rounds.update({ ...stored, version: fresh?.version ?? stored.version }, write)
      },
    }
  }
  if (has('rounds.brand-lost')) {
    return {
      ...rounds,
      insert: (write, commitments) =>
        rounds.insert({ ...write, round: { ...write.round, brandId: null } }, commitments),
    }
  }
  if (has('rounds.adjustment-on-the-day-of-the-round')) {
    return writing(rounds, ({ fact, round, ...write }) => {
      const { completedAt } = round
      if (fact?.at === undefined || completedAt === null) return { ...write, fact, round }
      return { ...write, round, fact: { ...fact, at: completedAt } }
    })
  }
  if (has('rounds.ended-on-the-day-it-began')) {
    return writing(rounds, ({ round, ...write }) => {
      const { createdAt, completedAt } = round
      const isSameDay = completedAt === null || completedAt.getUTCDate() === createdAt.getUTCDate()
      return { ...write, round: isSameDay ? round : { ...round, completedAt: createdAt } }
    })
  }
  if (has('rounds.event-dropped')) {
    return writing(rounds, (write, version) => (version % 2 === 0 ? { ...write, events: [] } : write))
  }
  if (has('rounds.voided-tells-a-payout')) {
    return writing(rounds, (write) =>
      write.round.status === 'VOIDED'
        ? { ...write, events: write.events.map((event) => ({ ...event, body: paidOut(event.body) })) }
        : write,
    )
  }
  if (has('rounds.due-by-a-clock-ahead')) {
    return writing(rounds, (write, version) =>
      version % 3 === 0 && write.dueAt !== null
        ? { ...write, dueAt: new Date(write.dueAt.getTime() + dayMs) }
        : write,
    )
  }
  if (has('rounds.recovery-given-up')) {
    return {
      ...rounds,
      async findDue(now, bounds) {
        const due = await rounds.findDue(now, bounds)
        const pages = due.pages.map((page) => page.filter(({ claims }) => claims < looksMax))
        return { ...due, pages }
      },
    }
  }
  if (has('rounds.withdrawn-after-adopted')) return withdrawingAdopted(rounds)
  if (has('rounds.list-after-answer')) return { ...rounds, show: async () => undefined }
  if (has('rounds.page-id-at-wallet')) return withStakesUnder(rounds, (id) => id)
  if (has('rounds.stake-id-without-player')) return withStakesUnder(rounds, ofRequestAlone)
  if (has('rounds.ids-without-case')) return alike(rounds, (id) => id.toLowerCase())
  if (has('rounds.ids-cut')) return alike(rounds, (id) => id.slice(0, charactersCompared))
  if (has('rounds.refusal-forgotten')) return { ...rounds, killRequest: async () => true }
  if (has('rounds.tombstone-forgotten')) return forgettingDead(rounds, true)
  if (has('rounds.dead-id-forgotten')) return forgettingDead(rounds, false)
  if (has('rounds.account-remembered')) {
    let account: Scope | null = null
    const remembered = (scope: Scope) => (account ??= scope)
    return {
      ...rounds,
      find: (scope, roundId) => rounds.find(remembered(scope), roundId),
      listByTransaction: (scope, id) => rounds.listByTransaction(remembered(scope), id),
    }
  }
  return rounds
}

type LimitsInUse = Pick<PlayerLimitsStore, 'find' | 'keep'>

/** Writes what counts towards limits over what another stake has written since. */
export function limitsWith(limits: LimitsInUse, has: HasBug): LimitsInUse {
  if (!has('rounds.limit-charge-lost')) return limits
  return {
    ...limits,
    async keep(scope, playerId, version, book) {
      const fresh = await limits.find(scope, playerId)
      return limits.keep(scope, playerId, fresh?.version ?? version, book)
    },
  }
}

/** Finds in the place of an id the first one that was like it. */
function alike(rounds: RoundsStore, like: (id: string) => string): RoundsStore {
  const firsts = new Map<string, string>()
  const first = (id: string): string => {
    const known = firsts.get(like(id)) ?? id
    firsts.set(like(id), known)
    return known
  }
  return {
    ...rounds,
    findRequest: (scope, sequence, id) => rounds.findRequest(scope, sequence, first(id)),
    listByTransaction: (scope, id) => rounds.listByTransaction(scope, first(id)),
  }
}

/** The milliseconds by which a clock is ahead of the database's: an hour more. */
export function clockOffsetWith(offsetMs: () => number, has: HasBug): () => number {
  return has('rounds.limit-period-elsewhere') ? () => offsetMs() + hourMs : offsetMs
}

/** Holds no stake to limits. */
export function operatorLimitsWith(hooks: Hooks, has: HasBug): Hooks {
  if (!has('rounds.operator-stakes-unlimited')) return hooks
  return { ...hooks, assertWithinLimits: async () => undefined, chargeStake: async () => null }
}

function writing(
  rounds: RoundsStore,
  change: (write: RoundWrite, version: number) => RoundWrite,
): RoundsStore {
  return {
    ...rounds,
    update: (stored, write) => rounds.update(stored, change(write, stored.version)),
  }
}

/** Stores stakes of game rounds under what is made of the page's id. */
function withStakesUnder(rounds: RoundsStore, idOf: (clientTransactionId: string) => string): RoundsStore {
  return {
    ...rounds,
    insert(write, commitments) {
      const { driver, clientTransactionId: id, stakes } = write.round
      if (driver === 'operator' || id === null) return rounds.insert(write, commitments)
      const under = stakes.map((stake) => ({ ...stake, transactionId: idOf(id) }))
      return rounds.insert({ ...write, round: { ...write.round, stakes: under } }, commitments)
    },
  }
}

function ofRequestAlone(id: string): string {
  return `bet_${idCharacters(createHash('sha256').update(id).digest(), 26)}`
}

function paidOut(body: string): string {
  return body.replace('"payout":"0.00"', '"payout":"1.00"')
}

/** Takes the nonce of an intent that was taken back for one that is used. */
function withoutNoncesOfRemoved(rounds: RoundsStore): RoundsStore {
  const removed = new Map<string, number>()
  return {
    ...rounds,
    async remove(stored) {
      const isRemoved = await rounds.remove(stored)
      if (isRemoved) removed.set(sequenceOf(stored.round), stored.round.nonce)
      return isRemoved
    },
    async last(sequence) {
      const last = await rounds.last(sequence)
      return { ...last, nonce: Math.max(last.nonce, removed.get(sequence) ?? 0) }
    },
  }
}

/** Does not see that a worker has taken a round over. */
function withdrawingAdopted(rounds: RoundsStore): RoundsStore {
  const unseen = <Found extends StoredRound | null>(found: Found) => found && { ...found, claims: 0 }
  return {
    ...rounds,
    find: async (scope, roundId) => unseen(await rounds.find(scope, roundId)),
    async update(stored, write) {
      return unseen(await rounds.update(stored, write))
    },
    async remove(stored) {
      const fresh = await rounds.findAnywhere(stored.round.id)
      return fresh !== null && rounds.remove(fresh)
    },
  }
}

/**
 * Draws a round again when it is finished by another process than the one that began it, or commits twice to
 * a nonce.
 */
export function commitmentsWith(commitments: CommitmentsStore, has: HasBug): CommitmentsStore {
  if (has('rounds.next-made-anew')) {
    return {
      ...commitments,
      after: (sequence, last, now) => commitments.after(sequence, { ...last, next: null }, now),
    }
  }
  if (!has('rounds.redrawn-after-restart')) return commitments
  const begunHere = new Set<string>()
  return {
    ...commitments,
    async after(sequence, last, now) {
      const commitment = await commitments.after(sequence, last, now)
      begunHere.add(commitment.sealedSeed)
      return commitment
    },
    open: (sequence, nonce, sealedSeed) =>
      begunHere.has(sealedSeed) ? commitments.open(sequence, nonce, sealedSeed) : newServerSeed(),
  }
}

type GrantUses = Pick<GrantsStore, 'open' | 'use' | 'giveBack'>

/**
 * Lets free bets be used without being counted, after their time, or keeps those of rounds without a play.
 */
export function grantsWith<Store extends GrantUses>(grants: Store, has: HasBug): Store {
  if (has('rounds.free-bet-not-counted')) return { ...grants, use: async () => true }
  if (has('rounds.free-bet-kept')) return { ...grants, giveBack: async () => undefined }
  if (has('rounds.free-bet-after-its-time')) {
    const always = new Date(0)
    const use: Store['use'] = (scope, grantId, roundId) => grants.use(scope, grantId, roundId, always)
    const open: Store['open'] = (scope, player) => grants.open(scope, player, always)
    return { ...grants, open, use }
  }
  return grants
}

/** Forgets tombstones, or the other movements that were refused. */
function forgettingDead(rounds: RoundsStore, tombstones: boolean): RoundsStore {
  return {
    ...rounds,
    async killMovement(scope, transactionId, dead) {
      const isForgotten = (dead.meaning === null) === tombstones
      return isForgotten || rounds.killMovement(scope, transactionId, dead)
    },
  }
}

/** Counts the last part of a report's segment twice. */
export function reportsWith(reports: ReportsStore, has: HasBug): ReportsStore {
  if (!has('rounds.report-part-counted-twice')) return reports
  return {
    ...reports,
    async read(scope, segment, by) {
      const found = await reports.read(scope, segment, by)
      return { ...found, parts: [...found.parts, ...found.parts.slice(-1)] }
    },
  }
}

type SessionsInUse = Pick<SessionsStore, 'find' | 'stopAll'>

/** Forgets what protects the player of a session. */
export function sessionsWith<Store extends SessionsInUse>(sessions: Store, has: HasBug): Store {
  if (has('rounds.stop-answered-first')) {
    const seen = new Set<string>()
    const stopAll: Store['stopAll'] = async (scope, playerId, stop, now) => {
      // The first look is the request's own; the worker's comes within a second.
      if (seen.has(stop.id)) await sessions.stopAll(scope, playerId, stop, now)
      seen.add(stop.id)
    }
    return { ...sessions, stopAll }
  }
  const isWithoutCheck = has('rounds.reality-check-forgotten')
  if (!isWithoutCheck && !has('rounds.stake-cap-forgotten')) return sessions
  const find: Store['find'] = async (scope, sessionId) => {
    const session = await sessions.find(scope, sessionId)
    if (session === null) return null
    const { realityCheckS: _check, ...withoutCheck } = session
    const { stakeCap: _cap, ...withoutCap } = session
    return isWithoutCheck ? withoutCheck : withoutCap
  }
  return { ...sessions, find }
}

/** Looks before it writes, and then writes in any case. */
export function pacesWith(paces: PacesStore, has: HasBug): PacesStore {
  if (!has('rounds.pace-looked-at-first')) return paces
  return {
    ...paces,
    async start(scope, playerId, start, made) {
      const last = await paces.last(scope, playerId)
      if (last !== null && last.startedAt > made.notAfter && last.startedBy !== start.startedBy) return false
      return paces.start(scope, playerId, start, { ...made, notAfter: start.startedAt })
    },
  }
}
