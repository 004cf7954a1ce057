import type { AnyBulkWriteOperation, Collection } from 'mongodb'
import type { OutboxEntry, WithOutbox } from './outbox-entry.ts'

export type OutboxDocument = WithOutbox & { _id: string }

type Sent = { documentId: string; entries: readonly OutboxEntry[] }
type Waiting = { sent: Sent; done: () => void; failed: (error: unknown) => void }

const batchMax = 200

/**
 * Removes what was published from outboxes. While one write is under way what is asked for meanwhile gathers, so that a busy relay empties
 * many outboxes with one command, and an idle one waits for nobody. A crash before it leaves events that are published once more, which the
 * stream drops by their ids.
 */
export function createOutboxClearing(
  collection: Collection<OutboxDocument>,
): (documentId: string, entries: readonly OutboxEntry[]) => Promise<void> {
  const queue: Waiting[] = []
  let working = false

  async function work(): Promise<void> {
    working = true
    while (queue.length > 0) {
      const batch = queue.splice(0, batchMax)
      try {
        await clear(batch.map(({ sent }) => sent))
        for (const { done } of batch) done()
      } catch (error) {
        for (const { failed } of batch) failed(error)
      }
    }
    working = false
  }

  /** One command when nothing was appended meanwhile, which a list of equal length and equal last event shows; two otherwise. */
  async function clear(batch: readonly Sent[]): Promise<void> {
    const cleared = await collection.bulkWrite(batch.map(clearUnchanged), { ordered: false })
    if (cleared.matchedCount === batch.length) return
    await collection.bulkWrite(batch.flatMap(removeSent))
  }

  return (documentId, entries) =>
    new Promise((done, failed) => {
      queue.push({ sent: { documentId, entries }, done, failed })
      if (!working) void work()
    })
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
