import {
  type PlayerLimit,
  emptyBook,
  type LimitBook,
} from '@pitboss/rounds/wings/protection/rules/player-limits'
import type {
  PlayerLimitsStore,
  StoredLimits,
} from '@pitboss/rounds/wings/protection/storage/player-limits-store'
import type { Machine } from './machine.ts'

export type ModelLimits = {
  readonly table: ReadonlyMap<string, StoredLimits>
  /** What holding a stake within limits reads and writes. */
  storeOf(machine: Machine): Pick<PlayerLimitsStore, 'find' | 'keep'>
  /** Sets the limits of a player, as the operator does before the run. */
  give(playerId: string, limits: readonly PlayerLimit[]): void
  /** Sets the books back to those of a backup. */
  restore(backup: ReadonlyMap<string, StoredLimits>, backedUpAtMs: number): void
}

/**
 * The collection of players' limits, with the promises of storage/player-limits-store.ts: one document of a
 * player, written under its version.
 */
export function createModelLimits({
  onKept,
  onRestored,
}: {
  onKept: (playerId: string, book: LimitBook) => void
  /** The book of a player is again what it was at a time of the run. */
  onRestored: (playerId: string, backedUpAtMs: number) => void
}): ModelLimits {
  const table = new Map<string, StoredLimits>()
  return {
    table,
    give(playerId, limits) {
      table.set(playerId, { version: 1, limits, changes: [], book: emptyBook })
    },
    restore(backup, backedUpAtMs) {
      for (const [playerId, stored] of backup) {
        table.set(playerId, stored)
        onRestored(playerId, backedUpAtMs)
      }
    },
    storeOf: (machine) => ({
      find: (_scope, playerId) => machine.io('find limits', () => table.get(playerId) ?? null),
      keep: (_scope, playerId, version, book) =>
        machine.io('keep charges', () => {
          const stored = table.get(playerId)
          if (stored?.version !== version) return false
          table.set(playerId, { ...stored, version: version + 1, book })
          onKept(playerId, book)
          return true
        }),
    }),
  }
}
