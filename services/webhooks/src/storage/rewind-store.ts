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

    /** Those under way, the latest first: one whose operator gave up before the consumer was rewound stays open and does no harm. */
    open: (): Promise<WithId<RewindDocument>[]> =>
      rewinds.find({ done: false }).sort({ createdAt: -1 }).limit(openMax).toArray(),

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
  const fresh = inRange.filter(({ seq }) => seq > rewind.countedSeq)
  const triedBefore = inRange.filter(({ seq }) => rewind.openSeqs.includes(seq))
  const ended = [...fresh, ...triedBefore].filter(({ result }) => result !== 'again')
  if (fresh.length === 0 && ended.length === 0) return null
  const count = (result: HandledMessage['result']) =>
    ended.filter((message) => message.result === result).length
  const endedSeqs = new Set(ended.map(({ seq }) => seq))
  const tried = fresh.filter(({ result }) => result === 'again').map(({ seq }) => seq)
  const openSeqs = [...rewind.openSeqs.filter((seq) => !endedSeqs.has(seq)), ...tried]
  const countedSeq = fresh.reduce((highest, { seq }) => Math.max(highest, seq), rewind.countedSeq)
  return {
    countedSeq,
    openSeqs,
    seen: rewind.seen + fresh.length,
    repaired: rewind.repaired + count('repaired'),
    unchanged: rewind.unchanged + count('unchanged'),
    parked: rewind.parked + count('parked'),
    done: countedSeq >= rewind.toSeq && openSeqs.length === 0,
  }
}
