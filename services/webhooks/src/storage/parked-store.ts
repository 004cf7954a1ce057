import { createHash } from 'node:crypto'
import type { AuditEntry } from '@pitboss/contracts/audit'
import { auditedUpdate } from '@pitboss/storage/audit-outbox'
import type { Collections, ParkedDocument } from './collections.ts'

/** A message that was handled, but whose audit entry has not moved, is no longer parked. */
const present = { auditRemoves: { $ne: true } }

export type ParkedStore = ReturnType<typeof createParkedStore>

export function createParkedStore({ parked }: Pick<Collections, 'parked'>) {
  const set = async (_id: string, $set: Partial<ParkedDocument>, audit: AuditEntry) =>
    void (await parked.updateOne({ _id }, auditedUpdate<ParkedDocument>({ $set }, audit)))

  return {
    /** Parks a message; parking it again refreshes only its error. */
    async park(message: Omit<ParkedDocument, '_id'>): Promise<void> {
      const { error, deliveries, ...fields } = message
      const text = `${message.consumer}/${message.streamSeq}/${message.payload}`
      const _id = `prk_${createHash('sha256').update(text).digest('hex').slice(0, 26)}`
      const update = { $set: { error, deliveries }, $unset: { auditRemoves: '' as const } }
      await parked.updateOne({ _id }, { ...update, $setOnInsert: fields }, { upsert: true })
    },

    list: (limit: number) => parked.find(present).sort({ parkedAt: 1 }).limit(limit).toArray(),

    read: (id: string) => parked.findOne({ _id: id, ...present }),

    /** Marks a message as handled; it is deleted when its audit entry has moved. */
    remove: (id: string, audit: AuditEntry) => set(id, { auditRemoves: true }, audit),
    setError: (id: string, error: string, audit: AuditEntry) => set(id, { error }, audit),
    count: (): Promise<number> => parked.countDocuments(present),
  }
}
