import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '@pitboss/runtime/clock'
import { startPoll, startRestingPoll } from '@pitboss/runtime/poll'
import { mapBounded } from '@pitboss/runtime/map-bounded'
import type { Collection } from 'mongodb'
import type { Logger } from 'pino'
import type { DocumentKey } from './change-fenced.ts'
import type { IndexDeclaration } from './ensure-indexes.ts'
import type { OutboxEntry } from './outbox-entry.ts'
import { createOutboxSweep } from './outbox-sweep.ts'
import {
  createSentEvents,
  type EventPublisher,
  type EventsPosition,
  type OutboxDocument,
} from './sent-events.ts'

const sweepEveryMs = 5000
const confirmEveryMs = 250
const sentAgainAtOnce = 8
/**
 * For so long a new event waits: recording and delivering it takes more commands than the round that it tells
 * of, whose player has his answer by then. Source: ours.
 */
const behindMs = 30
const behindMax = 10_000
const relaysMax = 1000
/** Documents of one process whose sent events wait to be recorded; further ones are sent when those are. */
const sentMax = 20_000

type DueDocument = DocumentKey & { outboxAt: Date; outbox: { id: string; subject: string }[] }

export type Outbox = ReturnType<typeof createOutbox>

/** The partial index that the sweeper reads; declare it with the collection's own. */
export const outboxIndex: IndexDeclaration = {
  key: { outboxAt: 1 },
  name: 'outbox_at',
  partialFilterExpression: { outboxAt: { $gt: new Date(0) } },
}

/**
 * The relay of one collection's outboxes. The document's whole pending list goes out, but for what this
 * process has sent: publishing only one's own new events would reorder them under crashes. Doubles are
 * dropped by the stream (message id = event id), later ones by webhooks.
 * @param position where the stream stands; without it an event leaves its outbox at its acknowledgement
 */
export function createOutbox<Doc extends OutboxDocument>({
  collection: entities,
  bus,
  position = null,
  documentsMax = sentMax,
  clock,
  logger,
}: {
  collection: Collection<Doc>
  bus: EventPublisher
  position?: ((withFirst: boolean) => Promise<EventsPosition>) | null
  documentsMax?: number
  clock: Clock
  logger: Logger
}) {
  const relays = new Map<string, { running: Promise<boolean>; again: boolean }>()
  const behind = new Set<Promise<boolean>>()
  // The driver's update and filter types cannot see through a generic document, so the relay works on the
  // part that it knows.
  const collection = entities as unknown as Collection<OutboxDocument>
  const sent = createSentEvents({ collection, bus, position, documentsMax })
  const confirming = { wake: () => {} }

  /** Whether everything that waited is published. */
  async function relay(document: DocumentKey, waiting?: readonly OutboxEntry[]): Promise<boolean> {
    const { _id: documentId } = document
    const present = relays.get(documentId)
    if (present !== undefined) {
      present.again = true
      return present.running
    }
    if (relays.size >= relaysMax || sent.isFull() || !bus.connected()) return false
    const entry = { running: Promise.resolve(false), again: false }
    relays.set(documentId, entry)
    entry.running = drain(document, entry, waiting)
    return entry.running
  }

  async function drain(
    document: DocumentKey,
    entry: { again: boolean },
    waiting: readonly OutboxEntry[] | undefined,
  ): Promise<boolean> {
    try {
      await sent.send(document, waiting === undefined ? await read(document) : sent.left(waiting))
      while (entry.again) {
        entry.again = false
        await sent.send(document, await read(document))
      }
      return true
    } catch (err) {
      logger.warn(
        { err, document_id: document._id, collection: collection.collectionName },
        'outbox.deferred',
      )
      return false
    } finally {
      relays.delete(document._id)
      confirming.wake()
    }
  }

  async function read(key: DocumentKey): Promise<readonly OutboxEntry[]> {
    const projection = { outbox: 1, outboxAt: 1 }
    const document = await collection.findOne(key, { projection })
    if (document === null) return []
    // A crash after the removal and before the mark's: unless it goes, the sweeper would look here first for
    // ever.
    if (document.outbox.length === 0 && document.outboxAt !== null) {
      await collection.updateOne({ ...key, outbox: { $size: 0 } }, { $set: { outboxAt: null } })
    }
    return document.outbox
  }

  /** Removes what is recorded, and sends again what the stream may have lost. */
  async function confirm(): Promise<void> {
    const lost = await sent.confirm()
    if (lost.length === 0) return
    logger.warn({ documents: lost.length, collection: collection.collectionName }, 'outbox.sent-again')
    await mapBounded(lost, sentAgainAtOnce, (document) => relay(document))
  }

  const sweep = createOutboxSweep({ read: readDue, relay, now: () => clock.now() })

  async function readDue({ after, until, limit }: { after: Date; until: Date; limit: number }) {
    const due = await collection
      .find({ outboxAt: { $gt: after, $lte: until } })
      .project<DueDocument>({
        outboxAt: 1,
        'outbox.id': 1,
        'outbox.subject': 1,
      })
      .sort({ outboxAt: 1 })
      .hint(outboxIndex.name)
      .limit(limit)
      .toArray()
    return due.map(({ outboxAt, outbox, ...key }) => ({
      key,
      at: outboxAt,
      account: outbox[0]?.subject.split('.')[3] ?? '',
      isSent:
        outbox.length > 0 &&
        sent.hasAll(
          key._id,
          outbox.map(({ id }) => id),
        ),
    }))
  }

  return {
    /**
     * Publishes what waits in the document, oldest first, each after the ack of the one before; it leaves the
     * outbox once webhooks has recorded it. Begins 30 ms later, after the answer that the write is for. Never
     * rejects: what cannot be published then is logged and left to the sweeper. Call it after the write,
     * without holding up the answer.
     * @param waiting the document's whole outbox as that write left it, which saves reading it again; else it
     * is read. It may name events that have left since the document was read.
     */
    async relay(document: DocumentKey, waiting?: readonly OutboxEntry[]): Promise<void> {
      if (behind.size >= behindMax) return
      const later = delay(behindMs).then(() => relay(document, waiting))
      behind.add(later)
      await later
      behind.delete(later)
    },
    /** Starts the sweeper and the removal of what is recorded. Returns the function that stops both. */
    start() {
      const sweeper = startPoll({
        event: 'outbox.sweep-failed',
        everyMs: sweepEveryMs,
        work: async (stopping) => (bus.connected() && !sent.isFull() ? await sweep(stopping) : undefined),
        logger: logger.child({ collection: collection.collectionName }),
      })
      const confirmer = startRestingPoll({
        event: 'outbox.not-confirmed',
        level: 'warn',
        everyMs: confirmEveryMs,
        hasWork: () => !sent.isEmpty(),
        work: async () => (bus.connected() ? await confirm() : undefined),
        logger: logger.child({ collection: collection.collectionName }),
      })
      confirming.wake = confirmer.wake
      return async () => {
        await sweeper.stop()
        await Promise.all(behind)
        await Promise.all([...relays.values()].map(({ running }) => running))
        await confirmer.stop()
      }
    },
  }
}
