import { randomBytes } from 'node:crypto'
import type { JetStreamClient } from '@nats-io/jetstream'
import type { Storage } from '@pitboss/storage/connect-storage'

/** The operator of everything that a floor does. */
export const floorScope = 'f1000000-0000-4000-8000-000000000000/SANDBOX'

export type FloorEvent = { id: string; body: string }
/** A document that keeps its events until they are published. */
export type Outboxed = { _id: string; version: number; outbox: FloorEvent[]; outboxAt: Date | null }

export type FloorRelay = {
  /**
   * Publishes what a write appended and takes it out of the document: a write of its own, as in the product.
   * Goes on behind the answer.
   */
  relay(collection: string, documentId: string, events: readonly FloorEvent[]): void
  /** Waits for the events that are still on their way. */
  finish(): Promise<void>
}

export function createFloorRelay({
  db,
  js,
  subject,
}: {
  db: Storage['db']
  js: JetStreamClient
  subject: string
}): FloorRelay {
  const behind = new Set<Promise<void>>()
  return {
    relay(collection, documentId, events) {
      const work = async () => {
        for (const { id, body } of events) await js.publish(subject, body, { msgID: id })
        const sent = { $in: events.map(({ id }) => id) }
        await db
          .collection<Outboxed>(collection)
          .updateOne({ _id: documentId }, { $pull: { outbox: { id: sent } }, $set: { outboxAt: null } })
      }
      const running: Promise<void> = work().finally(() => behind.delete(running))
      behind.add(running)
    },
    async finish() {
      while (behind.size > 0) await Promise.all(behind)
    },
  }
}

/** An event in the envelope that the product gives it. */
export function floorEvent(type: string, data: object): FloorEvent {
  const id = `evt_${randomBytes(13).toString('hex')}`
  const created_at = new Date().toISOString()
  return {
    id,
    body: JSON.stringify({ id, type, created_at, environment: 'SANDBOX', operator_id: floorScope, data }),
  }
}
