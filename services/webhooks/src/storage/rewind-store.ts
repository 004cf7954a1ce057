import type { WithId } from 'mongodb'
import type { Collections } from './collections.ts'
import type { RewindDocument } from './documents.ts'

export type RewindStore = ReturnType<typeof createRewindStore>

/** How a message of a rewound consumer ended; a message that is tried again later has not ended. */
export type HandledMessage = {
  readonly seq: number
  readonly result: 'repaired' | 'unchanged' | 'parked' | 'again'
}

const openMax = 10

/** Counts of rewinds of the fan-out consumer, kept here because the replica that works it may change meanwhile. */
export function createRewindStore({ rewinds }: Pick<Collections, 'rewinds'>) {
  return {
    async start(rewind: RewindDocument): Promise<void> {
      await rewinds.insertOne(rewind)
    },

    read: (id: string): Promise<WithId<RewindDocument> | null> => rewinds.findOne({ _id: id }),

    open: (): Promise<WithId<RewindDocument>[]> => rewinds.find({ done: false }).limit(openMax).toArray(),

    /** Counts a handled batch into the rewinds that were under way when it was begun. */
    async count(open: readonly RewindDocument[], messages: readonly HandledMessage[]): Promise<void> {
      for (const rewind of open) {
        const change = countInto(rewind, messages)
        if (change === null) continue
        const { countedSeq } = rewind
        await rewinds.updateOne({ _id: rewind._id, countedSeq, done: false }, { $set: change })
      }
    },
  }
}

/**
 * The counts after a batch, null when it has nothing to do with the rewind. Counting begins with the first message of the
 * rewound range, so that what the consumer still had before is left out; a message that comes again is seen once.
 */
export function countInto(
  rewind: Omit<RewindDocument, '_id'>,
  messages: readonly HandledMessage[],
): Partial<RewindDocument> | null {
  const inRange = messages.filter(({ seq }) => seq >= rewind.fromSeq && seq <= rewind.toSeq)
  const begun = rewind.seen > 0 || inRange.some(({ seq }) => seq === rewind.fromSeq)
  if (!begun) return null
  const count = (result: HandledMessage['result']) =>
    inRange.filter((message) => message.result === result).length
  const fresh = inRange.filter(({ seq }) => seq > rewind.countedSeq)
  // A message seen before that ends now had to be tried again; one that ended before and comes again is not told apart from it.
  const endings = Math.min(
    inRange.filter(({ result }) => result !== 'again').length,
    rewind.seen + fresh.length - (rewind.repaired + rewind.unchanged + rewind.parked),
  )
  if (fresh.length === 0 && endings === 0) return null
  const parked = Math.min(count('parked'), endings)
  const repaired = Math.min(count('repaired'), endings - parked)
  const counts = {
    countedSeq: fresh.reduce((highest, { seq }) => Math.max(highest, seq), rewind.countedSeq),
    seen: rewind.seen + fresh.length,
    repaired: rewind.repaired + repaired,
    parked: rewind.parked + parked,
    unchanged: rewind.unchanged + (endings - parked - repaired),
  }
  const open = counts.seen - (counts.repaired + counts.parked + counts.unchanged)
  return { ...counts, done: counts.countedSeq >= rewind.toSeq && open <= 0 }
}
