import { BoundedMap } from '@pitboss/runtime/bounded-map'
import type { AnyBulkWriteOperation, Collection } from 'mongodb'
import { amongKeys } from './among-keys.ts'
import type { DocumentKey } from './change-fenced.ts'
import type { OutboxEntry, WithOutbox } from './outbox-entry.ts'

/** Where the stream of events stands. */
export type EventsPosition = {
  /** Sequence of the newest event. */
  readonly last: number
  /** webhooks has recorded every event up to this sequence, or it has left the stream. */
  readonly recorded: number
  /** Sequence of the oldest event that is there, where it was asked for. */
  readonly first?: number
  /** Differs for each connection to the broker. */
  readonly connection: number
}

/** The part of the bus that the relay needs. */
export type EventPublisher = {
  /** Resolves when the stream has the event: its sequence there, and whether the stream had it before. */
  publishEvent(event: {
    id: string | null
    subject: string
    payload: Uint8Array
    traceparent?: string
  }): Promise<{ readonly seq: number; readonly duplicate: boolean }>
  connected(): boolean
}

export type OutboxDocument = WithOutbox & { _id: string }

type SentEvents = { readonly key: DocumentKey; readonly seqs: Map<string, number> }

const removedAtOnce = 200
/** Removed events that one process remembers. */
const goneMax = 20_000

/**
 * Sends the events of documents and keeps them in their outboxes until webhooks has recorded them, so that
 * they can be sent again when the stream loses them. Source:
 * docs/decisions/2026-11-22-events-outlive-the-stream.md.
 * @param position where the stream stands, with its oldest event where that is asked for; without it an event
 * leaves at its acknowledgement
 * @param documentsMax documents with sent events in the memory of one process; beyond, nothing more is sent
 */
export function createSentEvents({
  collection,
  bus,
  position,
  documentsMax,
}: {
  collection: Collection<OutboxDocument>
  bus: EventPublisher
  position: ((withFirst: boolean) => Promise<EventsPosition>) | null
  documentsMax: number
}) {
  /** The sequence of each event that is sent and still in its outbox; the oldest document first. */
  let sent = new Map<string, SentEvents>()
  const gone = new BoundedMap<string, true>(goneMax)
  let newest = 0
  let isBackwards = false
  let seen: EventsPosition | null = null
  /** Nothing was recorded between the last two looks. */
  let isStill = false

  async function sendOne(key: DocumentKey, entry: OutboxEntry): Promise<void> {
    const { id, subject, body, again, traceparent } = entry
    const newestBefore = newest
    const messageId = again === true ? null : id
    const { seq, duplicate } = await bus.publishEvent({
      id: messageId,
      subject,
      payload: Buffer.from(body),
      ...(traceparent === undefined ? {} : { traceparent }),
    })
    if (!duplicate && seq <= newestBefore) isBackwards = true
    if (!duplicate) newest = Math.max(newest, seq)
    const events: SentEvents = sent.get(key._id) ?? { key, seqs: new Map() }
    events.seqs.set(id, seq)
    sent.set(key._id, events)
  }

  /**
   * Removes sent events from their outboxes, many with one command. A crash before it leaves events that are
   * sent once more, which the stream or webhooks drops by their ids.
   */
  async function remove(documentIds: readonly string[]): Promise<void> {
    for (let start = 0; start < documentIds.length; start += removedAtOnce) {
      const batch = documentIds.slice(start, start + removedAtOnce).flatMap((documentId) => {
        const events = sent.get(documentId)
        return events === undefined ? [] : [{ key: events.key, ids: [...events.seqs.keys()] }]
      })
      await emptyOutboxes(collection, batch)
      for (const { key, ids } of batch) forget(key._id, ids)
    }
  }

  function forget(documentId: string, ids: readonly string[]): void {
    const events = sent.get(documentId)
    for (const id of ids) {
      events?.seqs.delete(id)
      gone.set(id, true)
    }
    if (events?.seqs.size === 0) sent.delete(documentId)
  }

  /** Whether the stream may have lost events that it had acknowledged. */
  function hasLost(now: EventsPosition, newestBefore: number): boolean {
    const isOther = seen !== null && (seen.connection !== now.connection || now.last < seen.last)
    return isBackwards || isOther || now.last < newestBefore
  }

  /**
   * Documents of which an event has left the stream by its age before webhooks had recorded it. Only what is
   * not recorded for long can, so the oldest sequence is asked for while nothing is.
   */
  function outlived({ first }: EventsPosition): DocumentKey[] {
    const recordedBefore = seen?.recorded
    if (first === undefined || recordedBefore === undefined) return []
    return [...sent.values()]
      .filter(({ seqs }) => [...seqs.values()].some((seq) => seq > recordedBefore && seq < first))
      .map(({ key }) => key)
  }

  return {
    /** Whether so much is sent and not recorded that the rest waits in its outboxes. */
    isFull: (): boolean => sent.size >= documentsMax,

    /** Whether nothing waits until it is recorded. */
    isEmpty: (): boolean => sent.size === 0,

    /** Whether all these events of the document are sent already. */
    hasAll: (documentId: string, ids: readonly string[]): boolean =>
      ids.every((id) => sent.get(documentId)?.seqs.has(id)),

    /** Of what waited when the document was read, that which this process has not removed since. */
    left: (waiting: readonly OutboxEntry[]): readonly OutboxEntry[] =>
      waiting.filter(({ id }) => gone.get(id) === undefined),

    /** Sends what is not sent yet, oldest first, each after the acknowledgement of the one before. */
    async send(key: DocumentKey, waiting: readonly OutboxEntry[]): Promise<void> {
      for (const entry of waiting) {
        if (!sent.get(key._id)?.seqs.has(entry.id)) await sendOne(key, entry)
      }
      if (position === null) await remove([key._id])
    },

    /**
     * Removes what webhooks has recorded. When a sequence has gone backwards, or the broker was away, what is
     * still in the outboxes counts as not sent; so does what has left the stream unrecorded.
     * @returns the documents whose events must be sent again
     */
    async confirm(): Promise<DocumentKey[]> {
      if (position === null) return []
      if (sent.size === 0) return []
      const newestBefore = newest
      const now = await position(isStill)
      if (hasLost(now, newestBefore)) {
        const lost = [...sent.values()].map(({ key }) => key)
        sent = new Map()
        newest = 0
        isBackwards = false
        seen = now
        return lost
      }
      const gone = outlived(now)
      for (const { _id } of gone) sent.delete(_id)
      isStill = seen?.recorded === now.recorded
      seen = now
      const recorded = [...sent].filter(([, { seqs }]) => Math.max(...seqs.values()) <= now.recorded)
      await remove(recorded.map(([documentId]) => documentId))
      return gone
    },
  }
}

/** A document, and the ids of the entries of its outbox that are done, oldest first. */
type Done = { readonly key: DocumentKey; readonly ids: readonly string[] }

/**
 * Removes done entries from outboxes, and the time of one that is empty then. An outbox that is as it was
 * read is emptied whole; entries that were appended since stay. It is safe to repeat. Source: ours.
 */
async function emptyOutboxes(collection: Collection<OutboxDocument>, done: readonly Done[]): Promise<void> {
  if (done.length === 0) return
  const byLength = [...Map.groupBy(done, ({ ids }) => ids.length)]
  const updates = byLength.map(([length, alike]) => emptyAlike(length, alike))
  const { matchedCount } = await collection.bulkWrite(updates, { ordered: false })
  if (matchedCount === done.length) return
  const among = amongKeys(done.map(({ key }) => key))
  const ids = done.flatMap((one) => one.ids)
  await collection.updateMany(among, { $pull: { outbox: { id: { $in: ids } } } })
  await collection.updateMany({ ...among, outbox: { $size: 0 } }, { $set: { outboxAt: null } })
}

/**
 * Entries are only appended and each is of one document, so an equal number and the last of them show that
 * none has come since. Outboxes with as many are one update, which the database plans once.
 */
function emptyAlike(length: number, alike: readonly Done[]): AnyBulkWriteOperation<OutboxDocument> {
  const last = length - 1
  const lastIds = alike.flatMap(({ ids }) => ids[last] ?? [])
  const unchanged = length === 0 ? {} : { [`outbox.${last}.id`]: { $in: lastIds } }
  const filter = { ...amongKeys(alike.map(({ key }) => key)), outbox: { $size: length }, ...unchanged }
  return { updateMany: { filter, update: { $set: { outbox: [], outboxAt: null } }, hint: '_id_' } }
}
