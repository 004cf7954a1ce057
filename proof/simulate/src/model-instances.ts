import { createInstances, type InstanceDocument, type Instances } from '@pitboss/storage/journal/instances'
import type { Machine } from './machine.ts'
import type { Timeline } from './timeline.ts'

export type ModelInstances = {
  readonly table: ReadonlyMap<string, InstanceDocument>
  /** The product's own view of who is alive, over the model's collection and time. */
  of(machine: Machine): Instances
  /** Remembers what stands now. @returns the function that brings it back */
  backUp(): () => void
}

export type SlotOf = (machine: Pick<Machine, 'name'>) => string

type Filter = { readonly _id: string; readonly beat?: number; readonly judgedAt?: null | { $ne: null } }
type Change = { readonly $set: Partial<InstanceDocument> }

/** The collection of the instances of one service, with single documents that are written atomically. */
export function createModelInstances({
  timeline,
  newId,
  onProgress = () => undefined,
  slotOf,
}: {
  timeline: Pick<Timeline, 'nowMs'>
  newId: (prefix: string) => string
  onProgress?: (before: InstanceDocument, after: InstanceDocument) => void
  slotOf: SlotOf
}): ModelInstances {
  const table = new Map<string, InstanceDocument>()

  const find = ({ _id, beat, judgedAt }: Filter): InstanceDocument | null => {
    const found = table.get(_id)
    if (found === undefined || (beat !== undefined && found.beat !== beat)) return null
    if (judgedAt === null && found.judgedAt !== null) return null
    return judgedAt !== null && judgedAt !== undefined && found.judgedAt === null ? null : found
  }

  const update = (found: InstanceDocument | null, { $set }: Change): InstanceDocument | null => {
    if (found === null) return null
    const after = { ...found, ...$set }
    table.set(found._id, after)
    onProgress(found, after)
    return after
  }

  const collectionOf = (machine: Machine) => ({
    insertOne: (document: InstanceDocument) =>
      machine.io('begin instance', () => void table.set(document._id, document)),
    updateOne: (filter: Filter, change: Change) =>
      machine.io('update instance', () => ({ matchedCount: update(find(filter), change) === null ? 0 : 1 })),
    updateMany: ({ _id: { $ne } }: { readonly _id: { readonly $ne: string } }, change: Change) =>
      machine.io('update instances', () => {
        for (const one of table.values()) if (one._id !== $ne && one.judgedAt === null) update(one, change)
      }),
    findOneAndUpdate: (filter: Filter, change: Change) =>
      machine.io('raise instance', () => {
        const found = find(filter)
        if (found === null) return null
        const { hasNews: _, ...known } = found
        update(known, change)
        return found
      }),
    deleteOne: (filter: Filter) =>
      machine.io('remove instance', () => void (find(filter) !== null && table.delete(filter._id))),
    find: ({ judgedAt }: Pick<Filter, 'judgedAt'>) => ({
      toArray: () =>
        machine.io('read instances', () =>
          [...table.values()].filter((one) => judgedAt === undefined || one.judgedAt === null),
        ),
    }),
  })

  return {
    table,
    of: (machine) =>
      createInstances({
        // The commands that it uses.
        collection: collectionOf(machine) as unknown as Parameters<typeof createInstances>[0]['collection'],
        build: 'sim',
        slot: slotOf(machine),
        newInstance: () => newId('ins'),
        shareOf: (_dead, alive, self) => alive.toSorted()[0] === self,
        now: machine.now,
        steadyMs: timeline.nowMs,
      }),
    backUp() {
      const backup = new Map(table)
      return () => {
        table.clear()
        for (const [id, document] of backup) table.set(id, document)
      }
    },
  }
}
