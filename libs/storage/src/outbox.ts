import type { Clock } from '@pitboss/runtime/clock'
import { startPoll } from '@pitboss/runtime/poll'
import type { Collection, AnyBulkWriteOperation } from 'mongodb'
import type { Logger } from 'pino'
import type { IndexDeclaration } from './ensure-indexes.ts'
import type { OutboxEntry, WithOutbox } from './outbox-entry.ts'
import { createOutboxSweep } from './outbox-sweep.ts'
import { batchCalls } from './batch-calls.ts'

const sweepEveryMs = 1000
const relaysMax = 1000

/** The part of the bus that the relay needs. */
export type EventPublisher = {
  publishEvent(event: { id: string; subject: string; payload: Uint8Array }): Promise<void>
  connected(): boolean
}

export type Outbox = {
  /**
   * Publishes what waits in the document, oldest first, each after the ack of the one before, then removes
   * it. Never rejects: what cannot be published now is logged and left to the sweeper. Call it after the
   * write, without holding up the answer.
   * @param waiting the document's whole outbox as that write left it, which saves reading it again; else it
   * is read.
   */
  relay(documentId: string, waiting?: readonly OutboxEntry[]): Promise<void>
  /**
   * Starts the sweeper, which relays what waits for more than a second: every second, and without a pause
   * while it finds more than it takes at a time. Returns the function that stops it.
   */
  start(): () => Promise<void>
}

/** The partial index that the sweeper reads; declare it with the collection's own. */
export const outboxIndex: IndexDeclaration = {
  key: { outboxAt: 1 },
  name: 'outbox_at',
  partialFilterExpression: { outboxAt: { $gt: new Date(0) } },
}

/**
 * The fields of an update that append events; merge its `$push` and `$set` into the update that causes them.
 */
export function outboxUpdate(
  entries: readonly OutboxEntry[],
  now: Date,
): { $push: { outbox: { $each: OutboxEntry[] } }; $set: { outboxAt: Date } } {
  return { $push: { outbox: { $each: [...entries] } }, $set: { outboxAt: now } }
}

/**
 * The relay of one collection's outboxes. The document's whole pending list goes out every time: publishing
 * only one's own new events would reorder them under crashes. Doubles are dropped by the stream (message id =
 * event id).
 */
export function createOutbox<Doc extends OutboxDocument>({
  collection: entities,
  bus,
  clock,
  logger,
}: {
  collection: Collection<Doc>
  bus: EventPublisher
  clock: Clock
  logger: Logger
}): Outbox {
  const relays = new Map<string, { running: Promise<boolean>; again: boolean }>()
  // The driver's update and filter types cannot see through a generic document, so the relay works on the
  // part that it knows.
  const collection = entities as unknown as Collection<OutboxDocument>
  const clear = createOutboxClearing(collection)

  /** Whether everything that waited is published. */
  async function relay(documentId: string, waiting?: readonly OutboxEntry[]): Promise<boolean> {
    const present = relays.get(documentId)
    if (present !== undefined) {
      present.again = true
      return present.running
    }
    if (relays.size >= relaysMax || !bus.connected()) return false
    const entry = { running: Promise.resolve(false), again: false }
    relays.set(documentId, entry)
    entry.running = drain(documentId, entry, waiting)
    return entry.running
  }

  async function drain(
    documentId: string,
    entry: { again: boolean },
    waiting: readonly OutboxEntry[] | undefined,
  ): Promise<boolean> {
    try {
      await publish(documentId, waiting ?? (await read(documentId)))
      while (entry.again) {
        entry.again = false
        await publish(documentId, await read(documentId))
      }
      return true
    } catch (err) {
      logger.warn({ err, document_id: documentId, collection: collection.collectionName }, 'outbox.deferred')
      return false
    } finally {
      relays.delete(documentId)
    }
  }

  async function read(documentId: string): Promise<readonly OutboxEntry[]> {
    const projection = { outbox: 1, outboxAt: 1 }
    const document = await collection.findOne({ _id: documentId }, { projection })
    if (document === null) return []
    // A crash after the removal and before the mark's: unless it goes, the sweeper would look here first for
    // ever.
    if (document.outbox.length === 0 && document.outboxAt !== null) {
      await collection.updateOne({ _id: documentId, outbox: { $size: 0 } }, { $set: { outboxAt: null } })
    }
    return document.outbox
  }

  async function publish(documentId: string, waiting: readonly OutboxEntry[]): Promise<void> {
    if (waiting.length === 0) return
    for (const { id, subject, body } of waiting) {
      await bus.publishEvent({ id, subject, payload: Buffer.from(body) })
    }
    await clear(documentId, waiting)
  }

  const sweep = createOutboxSweep({ read: readDue, relay, now: () => clock.now() })

  async function readDue({ after, until, limit }: { after: Date; until: Date; limit: number }) {
    const due = await collection
      .find({ outboxAt: { $gt: after, $lte: until } })
      .project<{ _id: string; outboxAt: Date; outbox: { subject: string }[] }>({
        outboxAt: 1,
        'outbox.subject': 1,
      })
      .sort({ outboxAt: 1 })
      .hint(outboxIndex.name)
      .limit(limit)
      .toArray()
    return due.map(({ _id, outboxAt, outbox }) => ({
      id: _id,
      at: outboxAt,
      account: outbox[0]?.subject.split('.')[3] ?? '',
    }))
  }

  return {
    async relay(documentId, waiting) {
      await relay(documentId, waiting)
    },
    start() {
      const sweeper = startPoll({
        event: 'outbox.sweep-failed',
        everyMs: sweepEveryMs,
        work: async (stopping) => (bus.connected() ? await sweep(stopping) : undefined),
        logger: logger.child({ collection: collection.collectionName }),
      })
      return async () => {
        await sweeper.stop()
        await Promise.all([...relays.values()].map(({ running }) => running))
      }
    },
  }
}

type OutboxDocument = WithOutbox & { _id: string }

type Sent = { documentId: string; entries: readonly OutboxEntry[] }

const batchMax = 200

/**
 * Removes published events from outboxes, many with one command while the relay is busy. A crash before it
 * leaves events that are published once more, which the stream drops by their ids.
 */
function createOutboxClearing(
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
