import type { MovementState } from '@pitboss/wallet-bridge/rules/movement'
import { callingRoundOf, movementIdOf } from '@pitboss/wallet-bridge/rules/movement-keys'
import type { DueMovements } from '@pitboss/wallet-bridge/storage/due-movements'
import type { MovementDocument, MovementStore } from '@pitboss/wallet-bridge/storage/movements'
import { createLaggingReads, type LaggingReads } from './lagging-reads.ts'
import type { Machine } from './machine.ts'

type MovementTable = ReadonlyMap<string, MovementDocument>

export type ModelMovements = {
  readonly table: MovementTable
  /** What each machine reads of it. */
  readonly reads: LaggingReads<MovementDocument>
  storeOf(machine: Machine): MovementStore
  dueOf(machine: Machine): DueMovements
  /** Sets the table back to these rows. */
  restore(backup: MovementTable): void
  /** Removes published events from a movement's outbox. */
  takeOut(id: string, eventIds: readonly string[]): void
  /** The next instant at which a movement is due; infinity when none is. */
  nextDueMs(): number
}

/**
 * The collection of movements, with the promises of storage/movements.ts: unique ids, one call in flight per
 * round, fenced writes. `onWrite` sees every change as it is made durable.
 */
export function createModelMovements({
  nowMs,
  onWrite,
}: {
  nowMs: () => number
  onWrite: (before: MovementDocument | null, after: MovementDocument) => void
}): ModelMovements {
  const table = new Map<string, MovementDocument>()
  const reads = createLaggingReads(table, nowMs)
  const seen = ({ name }: Machine) => reads.rows(name)
  const rows = (machine: Machine) => [...seen(machine).values()]
  const writing = <Result>(machine: Machine, what: string, effect: () => Result): Promise<Result> =>
    machine.io(what, () => {
      reads.wrote(machine.name)
      return effect()
    })

  const isRoundBusy = (callingRound: string | null, id: string) =>
    callingRound !== null &&
    [...table.values()].some((other) => other._id !== id && other.callingRound === callingRound)

  const put = (after: MovementDocument) => {
    const before = table.get(after._id) ?? null
    table.set(after._id, after)
    onWrite(before, after)
    return after
  }

  const write = (
    document: MovementDocument,
    { state, events, attempt }: Parameters<MovementStore['write']>[1],
  ): MovementDocument | null | 'round-busy' => {
    const present = table.get(document._id)
    if (present === undefined || present.version !== document.version) return null
    const callingRound = state.call === null ? null : callingRoundOf(document)
    if (isRoundBusy(callingRound, document._id)) return 'round-busy'
    const { version, attempts, outbox, outboxAt } = present
    return put({
      ...present,
      ...stateOf(state),
      version: version + 1,
      callingRound,
      attempts: attempt === null ? attempts : [...attempts, attempt],
      outbox: [...outbox, ...events],
      outboxAt: events.length === 0 ? outboxAt : state.updatedAt,
    })
  }

  const isDue = ({ dueAt }: MovementDocument, now: Date) => dueAt !== null && dueAt <= now

  return {
    table,
    reads,
    storeOf: (machine) => ({
      insert: (document) =>
        writing(machine, 'insert movement', () => {
          if (table.has(document._id)) return 'taken'
          if (isRoundBusy(document.callingRound, document._id)) return 'round-busy'
          put(document)
          return 'inserted'
        }),
      confirmPrimary: () => writing(machine, 'confirm primary', () => undefined),
      find: (scope, id) =>
        machine.io('find movement', () => seen(machine).get(movementIdOf(scope, id)) ?? null),
      findById: (id) => machine.io('find movement', () => seen(machine).get(id) ?? null),
      findCalling: (callingRound) =>
        machine.io(
          'find calling',
          () => rows(machine).find((one) => one.callingRound === callingRound) ?? null,
        ),
      ofRound: (_scope, roundId, limit) =>
        machine.io('find round', () =>
          rows(machine)
            .filter((one) => one.roundId === roundId)
            .slice(0, limit),
        ),
      stakesOf: (_scope, roundId) =>
        machine.io('find stakes', () =>
          rows(machine).filter((one) => one.roundId === roundId && one.type === 'BET'),
        ),
      write: (document, step) => writing(machine, 'write movement', () => write(document, step)),
    }),
    dueOf: (machine) => ({
      nextWallet: (after, now) =>
        machine.io('next wallet', () => {
          const keys = rows(machine)
            .filter((one) => isDue(one, now))
            .map(({ walletKey }) => walletKey)
          return keys.toSorted().find((key) => key > after) ?? null
        }),
      ofWallet: (walletKey, now, limit) =>
        machine.io('due of wallet', () =>
          rows(machine)
            .filter((one) => one.walletKey === walletKey && isDue(one, now))
            .slice(0, limit),
        ),
      pullForward: (walletKey, now) =>
        writing(machine, 'pull forward', () => {
          const waiting = [...table.values()].filter(
            (one) =>
              one.walletKey === walletKey &&
              one.dueAt !== null &&
              one.dueAt > now &&
              one.updatedAt <= now &&
              one.status === 'PENDING' &&
              one.type !== 'BET' &&
              one.call === null,
          )
          for (const one of waiting) table.set(one._id, { ...one, dueAt: now })
          return waiting.length
        }),
    }),
    restore(backup) {
      reads.clear()
      table.clear()
      for (const [id, row] of backup) table.set(id, row)
    },
    takeOut(id, eventIds) {
      const present = table.get(id)
      if (present === undefined) return
      const outbox = present.outbox.filter((entry) => !eventIds.includes(entry.id))
      table.set(id, { ...present, outbox, outboxAt: outbox.length === 0 ? null : present.outboxAt })
    },
    nextDueMs: () =>
      Math.min(...[...table.values()].map(({ dueAt }) => dueAt?.getTime() ?? Number.POSITIVE_INFINITY)),
  }
}

/** The state alone: what the rules return may carry the rest of an older document. */
function stateOf(state: MovementState): MovementState {
  const { type, operation, status, createdAt, updatedAt, tries, unknownTries, inDoubt } = state
  const { call, dueAt, pendingCode, refusalCode, walletCode, walletTransactionId, balanceAfter, reversal } =
    state
  return {
    type,
    operation,
    status,
    createdAt,
    updatedAt,
    tries,
    unknownTries,
    call,
    dueAt,
    pendingCode,
    refusalCode,
    walletCode,
    walletTransactionId,
    balanceAfter,
    reversal,
    ...(inDoubt === undefined ? {} : { inDoubt }),
  }
}
