import { createHash } from 'node:crypto'
import type { Scope } from '@pitboss/contracts/caller'
import { seedHash } from '@pitboss/fairness/server-seed'
import { isUnfinished, movementsOf, type RoundState } from '@pitboss/rounds/rules/round'
import type { CommitmentsStore } from '@pitboss/rounds/storage/commitments-store'
import { placeId } from '@pitboss/rounds/storage/lost-rounds'
import {
  sequenceOf,
  type RoundWrite,
  scopeKey,
  scopeOf,
  type StoredRound,
} from '@pitboss/rounds/storage/round-document'
import { type DeadId, deadIdKinds, type DeadIdsStore } from '@pitboss/rounds/storage/dead-ids-store'
import { deadIdMs } from '@pitboss/rounds/rules/refusal'
import type { RefusalsStore, RefusedRequest } from '@pitboss/rounds/storage/refusals-store'
import type { RoundsStore } from '@pitboss/rounds/storage/rounds-store'
import type { OutboxEntry } from '@pitboss/storage/outbox-entry'
import { createLaggingReads, type LaggingReads } from './lagging-reads.ts'
import type { Machine } from './machine.ts'
import { notSimulated } from './not-simulated.ts'

type Row = StoredRound & { readonly outbox: readonly OutboxEntry[] }

export type ModelRounds = {
  readonly table: ReadonlyMap<string, Row>
  /** What each machine reads of it. */
  readonly reads: LaggingReads<Row>
  storeOf(machine: Machine): RoundsStore
  commitmentsOf(machine: Machine): CommitmentsStore
  refusalsOf(machine: Machine): RefusalsStore
  deadIdsOf(machine: Machine): DeadIdsStore
  /** Requests that were refused for good before they had a round, by nonce sequence and id. */
  readonly refused: ReadonlyMap<string, RefusedRequest>
  /** Ids of the operator's server under which nothing happens any more, or that are about to be. */
  readonly deadIds: ReadonlyMap<string, DeadId>
  /** Rounds that are gone since the collection was set back. */
  readonly lost: ReadonlyMap<string, RoundState>
  /** Sets the collection back to an earlier copy of `table`. */
  restore(backup: ReadonlyMap<string, Row>): void
  takeOut(id: string, eventIds: readonly string[]): void
  nextDueMs(): number
}

/**
 * The collections of rounds and commitments, with the promises of storage/rounds-store.ts: one unfinished
 * round, one round per nonce and one per client's id in a nonce sequence, fenced writes, claims. Lists are
 * for people and not simulated.
 */
export function createModelRounds({
  seed,
  nowMs,
  onWrite,
}: {
  seed: number
  nowMs: () => number
  onWrite: (
    before: RoundState | null,
    after: RoundState,
    dueAt: Date | null,
    write: RoundWrite | null,
  ) => void
}): ModelRounds {
  const table = new Map<string, Row>()
  const reads = createLaggingReads(table, nowMs)
  const seen = ({ name }: Machine) => [...reads.rows(name).values()]
  const writing = <Result>(machine: Machine, what: string, effect: () => Result): Promise<Result> =>
    machine.io(what, () => {
      reads.wrote(machine.name)
      return effect()
    })
  const refused = new Map<string, RefusedRequest>()
  const refusedUntilMs = new Map<string, number>()
  const deadIds = new Map<string, DeadId>()
  const refusalOf = (key: string) => {
    return (refusedUntilMs.get(key) ?? 0) <= nowMs() ? undefined : refused.get(key)
  }
  const deadIdOf = (key: string) => {
    const kept = deadIds.get(key)
    return kept === undefined || (kept.forgetAt !== null && kept.forgetAt.getTime() <= nowMs())
      ? undefined
      : kept
  }
  const deadKey = (scope: Scope, kind: DeadId['kind'], id: string) => `${kind}/${scopeKey(scope)}/${id}`
  const refusedKey = (sequence: string, transactionId: string) => `${sequence} ${transactionId}`
  const rows = () => [...table.values()]
  const lastOf = (machine: Machine, sequence: string): Row | null => {
    const own = seen(machine).filter(({ round }) => sequenceOf(round) === sequence)
    return own.toSorted((a, b) => b.round.nonce - a.round.nonce)[0] ?? null
  }

  const put = (row: Row, write: RoundWrite | null = null): StoredRound => {
    const before = table.get(row.round.id)?.round ?? null
    table.set(row.round.id, row)
    onWrite(before, row.round, row.dueAt, write)
    return row
  }
  const lost = new Map<string, RoundState>()
  const noncesOf = (sequence: string): number[] =>
    rows().flatMap(({ round }) => (sequenceOf(round) === sequence ? [round.nonce] : []))
  const isTaken = (sequence: string, nonce: number) => noncesOf(sequence).includes(nonce)
  const lastBefore = (sequence: string, nonce: number) =>
    Math.max(0, ...noncesOf(sequence).filter((one) => one < nonce))
  /** The place of a lost round. */
  const putPlace = (id: string, round: RoundState) =>
    put({ round: { ...round, id }, version: 1, dueAt: null, checks: 0, claims: 0, outbox: [] })
  const written = (row: Row, { round, dueAt, events }: RoundWrite): Row => ({
    round,
    version: row.version + 1,
    dueAt,
    checks: 0,
    claims: row.claims,
    outbox: [...row.outbox, ...events],
  })
  /** The row if it is unchanged since it was read, or with `claim` even unclaimed. */
  const unchanged = (stored: StoredRound, claim: boolean): Row | null => {
    const row = table.get(stored.round.id)
    if (row === undefined || row.version !== stored.version) return null
    return claim && row.claims !== stored.claims ? null : row
  }

  return {
    table,
    reads,
    refused,
    storeOf(machine) {
      const find = (what: string, is: (row: Row) => boolean) =>
        machine.io<StoredRound | null>(what, () => seen(machine).find(is) ?? null)
      return {
        insert: ({ round, dueAt, events }) =>
          writing(machine, 'insert round', () => {
            const sequence = sequenceOf(round)
            const own = rows().filter((row) => sequenceOf(row.round) === sequence)
            const id = round.clientTransactionId
            const taken = own.some(
              (row) =>
                isUnfinished(row.round) ||
                row.round.nonce === round.nonce ||
                (id !== null && isOpenedBy(row.round, round.driver, id)),
            )
            const isRefused =
              round.driver === 'game' && refusalOf(refusedKey(sequence, id ?? '')) !== undefined
            return taken || isRefused
              ? null
              : put({ round, version: 1, dueAt, checks: 0, claims: 0, outbox: events })
          }),
        update: (stored, write) =>
          writing(machine, 'update round', () => {
            const row = unchanged(stored, false)
            return row === null ? null : put(written(row, write), write)
          }),
        updateUnclaimed: (stored, write) =>
          writing(machine, 'withdraw intent', () => {
            const row = unchanged(stored, true)
            if (row !== null) put(written(row, write), write)
            return row !== null
          }),
        remove: (stored) =>
          writing(
            machine,
            'remove round',
            () => unchanged(stored, true) !== null && table.delete(stored.round.id),
          ),
        find: (scope, roundId) =>
          find('find round', ({ round }) => round.id === roundId && scopeKey(round) === scopeKey(scope)),
        findAnywhere: (roundId) => find('find round', ({ round }) => round.id === roundId),
        findUnfinished: (sequence) =>
          find('find unfinished', ({ round }) => sequenceOf(round) === sequence && isUnfinished(round)),
        listByTransaction: (scope, id) =>
          machine.io('find by transaction', () =>
            seen(machine).filter(
              ({ round }) => scopeKey(scopeOf(round)) === scopeKey(scope) && idsOf(round).includes(id),
            ),
          ),
        findRequest: (sequence, id) =>
          machine.io('find request', () => {
            const stored = seen(machine).find(
              ({ round }) => sequenceOf(round) === sequence && isOpenedBy(round, 'game', id),
            )
            if (stored !== undefined) return { stored }
            const kept = refusalOf(refusedKey(sequence, id))
            return kept === undefined ? null : { refused: kept }
          }),
        findLast: (sequence) => machine.io('find last', () => lastOf(machine, sequence)),
        last: (sequence) =>
          machine.io('last round', () => {
            const last = lastOf(machine, sequence)
            return {
              nonce: last?.round.nonce ?? 0,
              unfinished: last !== null && isUnfinished(last.round),
            }
          }),
        findDue: (now, { roundsMax }) =>
          machine.io('due rounds', () => {
            const due = seen(machine).filter(({ dueAt }) => dueAt !== null && dueAt <= now)
            return { pages: [due.slice(0, roundsMax)], sweptTo: '', mayHaveMore: due.length > roundsMax }
          }),
        postpone: (stored, until) =>
          writing(machine, 'postpone round', () => {
            const row = unchanged(stored, true)
            if (row?.dueAt === stored.dueAt) table.set(row.round.id, { ...row, dueAt: until })
          }),
        claim: (stored, until) =>
          writing(machine, 'claim round', () => {
            const row = unchanged(stored, true)
            if (row === null) return null
            const claimed = { ...row, dueAt: until, checks: row.checks + 1, claims: row.claims + 1 }
            table.set(row.round.id, claimed)
            return claimed
          }),
        withoutRound: (_scope, ids) =>
          machine.io('stakes without a round', () => {
            const known = new Set(rows().flatMap(({ round }) => idsOf(round)))
            return ids.filter((id) => !known.has(id))
          }),
        confirmPrimary: () => writing(machine, 'confirm primary', () => undefined),
        nonceIsFree: (sequence, nonce) => machine.io('nonce of a round', () => !isTaken(sequence, nonce)),
        hasPlace: (sequence, roundId) =>
          machine.io('place of a round', () => table.has(placeId(roundId, sequence))),
        skipTo: (sequence, nonce, round) =>
          writing(machine, 'skip nonces', () => {
            for (let next = lastBefore(sequence, nonce) + 1; next <= nonce; next++) {
              if (!isTaken(sequence, next)) putPlace(placeId(next, sequence), { ...round, nonce: next })
            }
          }),
        skipNext: (sequence, roundId, round) =>
          writing(machine, 'skip a nonce', () => {
            const id = placeId(roundId, sequence)
            if (!table.has(id)) putPlace(id, { ...round, nonce: lastBefore(sequence, Infinity) + 1 })
          }),
        endSession: (sequence, sessionId, endedAt, due) =>
          writing(machine, 'end session of round', () => {
            const row = rows().find(
              ({ round }) =>
                sequenceOf(round) === sequence &&
                round.sessionId === sessionId &&
                round.driver === 'game' &&
                (round.status === 'PENDING' || round.status === 'OPEN') &&
                round.sittingEndsAt > endedAt,
            )
            if (row === undefined) return
            const dueAt = row.dueAt === null || row.dueAt > due ? due : row.dueAt
            const round = { ...row.round, sittingEndsAt: endedAt }
            table.set(round.id, { ...row, round, dueAt, version: row.version + 1 })
          }),
        list: (scope, { playerId, to }, { before, max }) =>
          machine.io('list rounds', () =>
            seen(machine)
              .map(({ round }) => round)
              .filter(
                (round) =>
                  scopeKey(round) === scopeKey(scope) &&
                  round.playerId === playerId &&
                  (to === undefined || round.createdAt <= to) &&
                  (before === null || round.id < before),
              )
              .toSorted((a, b) => (a.id < b.id ? 1 : -1))
              .slice(0, max),
          ),
        between: notSimulated,
        endedSince: notSimulated,
        listSequence: notSimulated,
        listSums: notSimulated,
        placesHeld: notSimulated,
        unfinished: notSimulated,
        countUnfinished: notSimulated,
      }
    },
    deadIds,
    refusalsOf: (machine) => ({
      insert: (sequence, request, now) =>
        writing(machine, 'insert refusal', () => {
          const { transactionId } = request
          const key = refusedKey(sequence, transactionId)
          const isTaken = rows().some(
            ({ round }) => sequenceOf(round) === sequence && isOpenedBy(round, 'game', transactionId),
          )
          if (isTaken || refusalOf(key) !== undefined) return false
          refused.set(key, request)
          refusedUntilMs.set(key, now.getTime() + deadIdMs)
          return true
        }),
    }),
    deadIdsOf: (machine) => ({
      find: (scope, id) =>
        machine.io('find dead id', () =>
          deadIdKinds.flatMap((kind) => deadIdOf(deadKey(scope, kind, id)) ?? []),
        ),
      propose: (scope, dead) =>
        writing(machine, 'propose dead id', () => {
          const key = deadKey(scope, dead.kind, dead.transactionId)
          if (deadIdOf(key) === undefined) deadIds.set(key, dead)
          return deadIdOf(key) ?? null
        }),
      finish: (scope, { kind, transactionId, token }, forgetAt) =>
        writing(machine, 'finish dead id', () => {
          const key = deadKey(scope, kind, transactionId)
          const kept = deadIdOf(key)
          if (kept?.token !== token) return false
          deadIds.set(key, { ...kept, isFinal: true, forgetAt })
          return true
        }),
      giveWay: (scope, { kind, transactionId, token }) =>
        writing(machine, 'remove dead id', () => {
          const key = deadKey(scope, kind, transactionId)
          const kept = deadIds.get(key)
          if (kept?.token === token && !kept.isFinal) deadIds.delete(key)
        }),
    }),
    commitmentsOf: (machine) => ({
      ensure: (sequence, nonce) =>
        machine.io('ensure commitment', () => {
          const sealedSeed = seedOf(seed, sequence, nonce)
          return { nonce, sealedSeed, serverSeedHash: seedHash(sealedSeed) }
        }),
      resealed: (_sequence, commitment) => commitment,
      open: (_chain, _nonce, sealedSeed) => sealedSeed,
      list: notSimulated,
    }),
    lost,
    restore(backup) {
      for (const [id, { round }] of table) if (!backup.has(id)) lost.set(id, round)
      table.clear()
      for (const [id, row] of backup) table.set(id, row)
    },
    takeOut(id, eventIds) {
      const row = table.get(id)
      if (row === undefined) return
      table.set(id, { ...row, outbox: row.outbox.filter((entry) => !eventIds.includes(entry.id)) })
    },
    nextDueMs: () => Math.min(...rows().map(({ dueAt }) => dueAt?.getTime() ?? Number.POSITIVE_INFINITY)),
  }
}

/** Whether the round was opened under this id of its driver. */
function isOpenedBy(round: RoundState, driver: RoundState['driver'], id: string): boolean {
  return round.driver === driver && round.clientTransactionId === id
}

function idsOf(round: RoundState): string[] {
  return movementsOf(round).map(({ transactionId }) => transactionId)
}

function seedOf(seed: number, sequence: string, nonce: number): string {
  return createHash('sha256').update(`${seed}/${sequence}/${nonce}`).digest('hex')
}
