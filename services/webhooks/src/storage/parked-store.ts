import { createHash } from 'node:crypto'
import type { AuditEntry } from '@pitboss/contracts/audit'
import { auditedUpdate } from '@pitboss/storage/audit-outbox'
import type { Collections, ParkedDocument } from './collections.ts'

/** A message that was handled, but whose audit entry has not moved, is no longer parked. */
const present = { auditRemoves: { $ne: true } }

export type ParkedStore = ReturnType<typeof createParkedStore>

export function createParkedStore({ parked }: Pick<Collections, 'parked'>) {
  return {
    /** Parks a message; parking it again refreshes only its error. */
    async park(message: Omit<ParkedDocument, '_id'>): Promise<void> {
      const { error, deliveries, ...fields } = message
      const text = `${message.consumer}/${message.streamSeq}/${message.payload}`
      const _id = `prk_${createHash('sha256').update(text).digest('hex').slice(0, 26)}`
      const update = {
        $setOnInsert: fields,
        $set: { error, deliveries },
        $unset: { auditRemoves: '' as const },
      }
      await parked.updateOne({ _id }, update, { upsert: true })
    },

    list: (limit: number) => parked.find(present).sort({ parkedAt: 1 }).limit(limit).toArray(),

    read: (id: string) => parked.findOne({ _id: id, ...present }),

    /** Marks a message as handled; it is deleted when its audit entry has moved. */
    async remove(id: string, audit: AuditEntry): Promise<void> {
      await parked.updateOne({ _id: id }, auditedUpdate({ $set: { auditRemoves: true } }, audit))
    },

    async setError(id: string, error: string, audit: AuditEntry): Promise<void> {
      await parked.updateOne({ _id: id }, auditedUpdate({ $set: { error } }, audit))
    },

    count: (): Promise<number> => parked.countDocuments(present),
  }
}
