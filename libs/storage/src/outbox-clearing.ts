import type { AnyBulkWriteOperation, Collection } from 'mongodb'
import { batchCalls } from './batch-calls.ts'
import type { OutboxEntry, WithOutbox } from './outbox-entry.ts'

export type OutboxDocument = WithOutbox & { _id: string }

type Sent = { documentId: string; entries: readonly OutboxEntry[] }

const batchMax = 200

/**
 * Removes published events from outboxes, many with one command while the relay is busy. A crash before it
 * leaves events that are published once more, which the stream drops by their ids.
 */
export function createOutboxClearing(
  collection: Collection<OutboxDocument>,
): (documentId: string, entries: readonly OutboxEntry[]) => Promise<void> {
  const clearTogether = batchCalls<Sent, true>({
    run: clear,
    itemsMax: batchMax,
    failsByOne: () => false,
  })

  /**
   * One command when nothing was appended meanwhile, which a list of equal length and equal last event shows;
   * two otherwise.
   */
  async function clear(batch: readonly Sent[]): Promise<true[]> {
    const cleared = await collection.bulkWrite(batch.map(clearUnchanged), { ordered: false })
    if (cleared.matchedCount !== batch.length) await collection.bulkWrite(batch.flatMap(removeSent))
    return batch.map(() => true)
  }

  return async (documentId, entries) => {
    await clearTogether([{ documentId, entries }])
  }
}

function clearUnchanged({ documentId, entries }: Sent): AnyBulkWriteOperation<OutboxDocument> {
  const last = entries.length - 1
  const filter = {
    _id: documentId,
    outbox: { $size: entries.length },
    [`outbox.${last}.id`]: entries[last]?.id,
  }
  return { updateOne: { filter, update: { $set: { outbox: [], outboxAt: null } } } }
}

function removeSent({ documentId, entries }: Sent): AnyBulkWriteOperation<OutboxDocument>[] {
  const ids = entries.map(({ id }) => id)
  return [
    { updateOne: { filter: { _id: documentId }, update: { $pull: { outbox: { id: { $in: ids } } } } } },
    {
      updateOne: {
        filter: { _id: documentId, outbox: { $size: 0 } },
        update: { $set: { outboxAt: null } },
      },
    },
  ]
}
