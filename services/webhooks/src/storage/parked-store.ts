import { createHash } from 'node:crypto'
import type { WithId } from 'mongodb'
import type { Collections, ParkedDocument } from './collections.ts'

export type ParkedStore = ReturnType<typeof createParkedStore>

/** Messages that could not be handled, until operations have them tried again. */
export function createParkedStore({ parked }: Pick<Collections, 'parked'>) {
  return {
    /** Parks a message; parking it again refreshes its error alone. @returns whether it is new */
    async park(message: Omit<ParkedDocument, '_id'>): Promise<boolean> {
      const { error, deliveries, ...fields } = message
      const _id = parkedId(message.consumer, message.streamSeq, message.payload)
      const { upsertedCount } = await parked.updateOne(
        { _id },
        { $setOnInsert: fields, $set: { error, deliveries } },
        { upsert: true },
      )
      return upsertedCount === 1
    },

    list: (limit: number): Promise<WithId<ParkedDocument>[]> =>
      parked.find({}).sort({ parkedAt: 1 }).limit(limit).toArray(),

    read: (id: string): Promise<WithId<ParkedDocument> | null> => parked.findOne({ _id: id }),

    async remove(id: string): Promise<void> {
      await parked.deleteOne({ _id: id })
    },

    async setError(id: string, error: string): Promise<void> {
      await parked.updateOne({ _id: id }, { $set: { error } })
    },

    count: (): Promise<number> => parked.countDocuments({}),
  }
}

function parkedId(consumer: string, streamSeq: number, payload: string): string {
  const digest = createHash('sha256').update(`${consumer}/${streamSeq}/${payload}`).digest('hex')
  return `prk_${digest.slice(0, 26)}`
}
