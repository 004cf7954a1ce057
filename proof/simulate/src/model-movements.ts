import type { Random } from '@pitboss/chaos/random'
import type { InstanceDocument } from '@pitboss/storage/journal/instances'
import type { Entry, JournalDocument } from '@pitboss/storage/journal/journal'
import { claimKey, type StreamKey } from '@pitboss/storage/journal/journal-keys'
import type { RenderedEvent } from '@pitboss/storage/rendered-event'
import type { MoneyFact } from '@pitboss/wallet-bridge/storage/round-money'
import { movementIdOf } from '@pitboss/wallet-bridge/rules/movement-keys'
import type { ListedMovement, ListedMovements } from '@pitboss/wallet-bridge/storage/listed-movements'
import type { MovementDocument } from '@pitboss/wallet-bridge/storage/movement-document'
import type { Faults } from './faults.ts'
import { foldMoney } from './fold-money.ts'
import type { LaggingReads } from './lagging-reads.ts'
import type { Machine } from './machine.ts'
import { createModelInstances, type ModelInstances, type SlotOf } from './model-instances.ts'
import { createModelJournal, isEntry, type ModelJournal, streamOf } from './model-journal.ts'
import type { Timeline } from './timeline.ts'
import type { JournalMistake } from './world.ts'

export type ModelMovements = {
  /** The movements that stand: those whose entries and claims are their own. */
  readonly table: ReadonlyMap<string, MovementDocument>
  readonly journal: ModelJournal<MoneyFact, ListedMovement>
  readonly instances: ModelInstances
  /** What each machine reads of the lists. */
  readonly reads: LaggingReads<ListedMovement>
  listsOf(machine: Machine): ListedMovements
  /** Events of entries that `isSent` does not know. */
  unsent(isSent: (eventId: string) => boolean): readonly RenderedEvent[]
  /** Remembers the database as it is. @returns the function that sets it back and says how many movements */
  backUp(): () => string
}

export type MovementsWatch = {
  /** Sees every movement as its change is made durable. */
  readonly onWrite: (before: MovementDocument | null, after: MovementDocument) => void
  /** Sees each entry, with the one before it in its stream. */
  readonly onEntry?: (entry: Entry<MoneyFact>, before: Entry<MoneyFact> | null) => void
  /** Sees a movement that stood and is withdrawn. */
  readonly onGone?: (movement: MovementDocument) => void
  readonly onListed?: (before: ListedMovement | null, after: ListedMovement) => void
  readonly onProgress?: (before: InstanceDocument, after: InstanceDocument) => void
}

/** The database of wallet-bridge: its journal, its list documents and its instances. */
export function createModelMovements({
  timeline,
  random,
  faults,
  newId,
  mistake = null,
  slotOf = ({ name }) => name,
  onWrite,
  onEntry = () => undefined,
  onGone = () => undefined,
  onListed = () => undefined,
  onProgress = () => undefined,
}: {
  timeline: Timeline
  random: Random
  faults: Faults
  newId: (prefix: string) => string
  mistake?: JournalMistake | null
  /** The place of a machine: another one begins there when the one before has died. */
  slotOf?: SlotOf
} & MovementsWatch): ModelMovements {
  const table = new Map<string, MovementDocument>()
  const idsOf = new Map<StreamKey, readonly string[]>()
  const journal = createModelJournal<MoneyFact, ListedMovement>({
    ...{ timeline, random, faults, onListed, mistake },
    onLanded,
    onRemoved: ({ s }) => fold(s),
  })
  const instances = createModelInstances({ timeline, newId, slotOf, onProgress })
  const { reads } = journal

  function onLanded(document: JournalDocument<MoneyFact>): void {
    const stream = isEntry(document) ? streamOf(document) : document.s
    if (isEntry(document)) {
      const entries = journal.streams.get(stream) ?? []
      onEntry(document, entries[entries.indexOf(document) - 1] ?? null)
    }
    fold(stream)
  }

  /** Reads a stream once more, and shows what has changed by it. */
  function fold(stream: StreamKey, isShown = true): void {
    const isOwn = ({ operatorId, environment, transactionId }: MovementDocument, w: string) =>
      journal.documents.get(claimKey('t', [operatorId, environment], transactionId))?.w === w
    const standing = [...foldMoney(journal.streams.get(stream) ?? [], isOwn).values()]
    const ids = new Set(standing.map(({ _id }) => _id))
    for (const id of idsOf.get(stream) ?? []) {
      const gone = table.get(id)
      if (ids.has(id) || gone === undefined) continue
      table.delete(id)
      if (isShown) onGone(gone)
    }
    idsOf.set(stream, [...ids])
    for (const movement of standing) {
      const before = table.get(movement._id) ?? null
      if (before?.w === movement.w) continue
      table.set(movement._id, movement)
      if (isShown) onWrite(before, movement)
    }
  }

  return {
    table,
    journal,
    instances,
    reads,
    listsOf(machine) {
      const lists = journal.listsOf(machine)
      return {
        write: (movements) => lists.write(movements),
        newAmong: lists.newAmong,
        find: async (id) => (await lists.find(id)) ?? null,
        ofRound: async (scope, roundId, limit) => {
          const found = await lists.list(
            (one) => one.roundId === roundId && one._id === movementIdOf(scope, one.transactionId),
          )
          return found.toSorted((a, b) => (a.reference < b.reference ? -1 : 1)).slice(0, limit)
        },
        unowned: async (limit, alive) => {
          const found = await lists.list(({ open, o = '' }) => open === true && !alive.includes(o))
          return found.slice(0, limit)
        },
        confirmPrimary: () => machine.io('confirm primary', () => reads.wrote(machine.name)),
      }
    },
    unsent: (isSent) =>
      [...journal.streams.values()].flatMap((entries) =>
        entries.flatMap(({ ev = [] }) => ev.filter(({ id }) => !isSent(id))),
      ),
    backUp() {
      const setBacks = [journal.backUp(), instances.backUp()]
      return () => {
        const before = table.size
        for (const setBack of setBacks) setBack()
        table.clear()
        idsOf.clear()
        for (const stream of journal.streams.keys()) fold(stream, false)
        return `${before} to ${table.size}`
      }
    },
  }
}
