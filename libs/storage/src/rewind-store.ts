import { setTimeout as delay } from 'node:timers/promises'
import type { AuditEntry } from '@pitboss/contracts/audit'
import type { RewindStart, RewindView } from '@pitboss/contracts/calls/rewind'
import { invalidField, ServiceError } from '@pitboss/errors/service-error'
import type { Clock } from '@pitboss/runtime/clock'
import type { Db } from 'mongodb'
import { auditedInsert, auditOutboxIndex, type WithAudit } from './audit-outbox.ts'
import type { IndexDeclaration } from './ensure-indexes.ts'
import { isDuplicateKey } from './create-once.ts'
import {
  addCounts,
  bitsOf,
  countParts,
  type HandledMessage,
  partSize,
  type RewindCounts,
  type RewindPart,
} from './rewind-tally.ts'

/** A rewind of a durable consumer: its order, and the counts up to `countedSeq`. */
type RewindDocument = RewindCounts &
  WithAudit & {
    _id: string
    by: string
    reason: string | null
    fromSeq: number
    toSeq: number
    /** Up to here parts have been added up and removed. */
    countedSeq: number
    done: boolean
    createdAt: Date
  }

/** State of the messages from `firstSeq` on, `partSize` of them. */
type PartDocument = RewindPart & { _id: string; rewindId: string; firstSeq: number; createdAt: Date }

export type OpenRewind = Pick<RewindDocument, '_id' | 'fromSeq' | 'toSeq'>

export type RewindStore = ReturnType<typeof createRewindStore>

const openMax = 10
/** A rewind makes its consumer within this long of its start. Source: ours. */
const rewindHoldsMs = 60_000
/** A rewind that began earlier than this has no say any more in where its consumer begins. Source: ours. */
const rewindCountsMs = 24 * 3600 * 1000
const openKnownMs = 1000
const startMarginMs = 100
const attemptsMax = 5
/** Kept as long as the stream keeps the messages that could be counted. */
const partKeptS = 30 * 24 * 3600

/** Declare them with the service's collections. */
export const rewindIndexes: Readonly<Record<'rewinds' | 'rewind_parts', readonly IndexDeclaration[]>> = {
  rewinds: [{ name: 'open', key: { done: 1 } }, auditOutboxIndex],
  rewind_parts: [
    { name: 'parts', key: { rewindId: 1, firstSeq: 1 } },
    { name: 'kept', key: { createdAt: 1 }, expireAfterSeconds: partKeptS },
  ],
}

/**
 * Counts the messages that rewinds of a durable consumer see and repair, whichever replicas work it and in
 * whatever order. One bit in the database stands for a message, so that none counts twice, however often it
 * comes.
 */
export function createRewindStore({
  db,
  clock,
  newId,
}: {
  db: Db
  clock: Clock
  newId: (prefix: string) => string
}) {
  const rewinds = db.collection<RewindDocument>('rewinds')
  const parts = db.collection<PartDocument>('rewind_parts')
  let known: { atMs: number; rewinds: Promise<readonly OpenRewind[]> } | null = null

  return {
    /** Opens a rewind. When this returns, every replica counts into it: the consumer may be made again. */
    async start(
      { order, fromSeq, toSeq }: RewindStart,
      entryOf: (rewind: RewindView) => AuditEntry,
    ): Promise<RewindView> {
      if (fromSeq < 1 || toSeq < fromSeq) throw invalidField('fromSeq', 'must lie between 1 and toSeq')
      const rewind: RewindDocument = {
        _id: newId('rwd'),
        by: order.by,
        reason: order.reason,
        fromSeq,
        toSeq,
        countedSeq: fromSeq - 1,
        ...countParts([]),
        done: false,
        createdAt: clock.now(),
      }
      if (!order.dryRun) {
        await rewinds.insertOne({ ...rewind, ...auditedInsert(entryOf(viewOf(rewind))) })
        await delay(openKnownMs + startMarginMs)
      }
      return viewOf(rewind)
    },

    /** Rewinds under way, the latest first, read at most once a second, for which `start` waits. */
    open(): Promise<readonly OpenRewind[]> {
      const nowMs = performance.now()
      if (known !== null && nowMs - known.atMs < openKnownMs) return known.rewinds
      const read = rewinds
        .find({ done: false }, { projection: { fromSeq: 1, toSeq: 1 } })
        .sort({ createdAt: -1 })
        .limit(openMax)
        .toArray()
      known = { atMs: nowMs, rewinds: read }
      read.catch(() => {
        known = null
      })
      return read
    },

    /**
     * What whoever would make the consumer again has to know: whether a rewind is about to make it, and the
     * sequences from which rewinds want the messages.
     */
    async orders(): Promise<{ hold: boolean; fromSeqs: number[] }> {
      const nowMs = clock.now().getTime()
      const found = await rewinds
        .find({ done: false }, { projection: { fromSeq: 1, createdAt: 1 } })
        .sort({ createdAt: -1 })
        .limit(openMax)
        .toArray()
      const ageMs = ({ createdAt }: Pick<RewindDocument, 'createdAt'>) => nowMs - createdAt.getTime()
      return {
        hold: found.some((rewind) => ageMs(rewind) < rewindHoldsMs),
        fromSeqs: found.filter((rewind) => ageMs(rewind) < rewindCountsMs).map(({ fromSeq }) => fromSeq),
      }
    },

    /** Counts ended messages into their rewinds. Do it before they are acknowledged. */
    async count(open: readonly OpenRewind[], messages: readonly HandledMessage[]): Promise<void> {
      for (const rewind of open) {
        const own = messages.filter(({ seq }) => isWithin(rewind, seq))
        const byPart = Map.groupBy(own, ({ seq }) => seq - ((seq - rewind.fromSeq) % partSize))
        await Promise.all([...byPart].map(([firstSeq, some]) => add(rewind._id, firstSeq, some)))
      }
    },

    /**
     * Progress of a rewind. Messages that the consumer has passed cannot change any more: they are added up
     * for good.
     * @param acknowledgedSequence up to where the consumer has acknowledged everything, as of before this
     * call
     */
    async progress(id: string, acknowledgedSequence: number): Promise<RewindView> {
      for (let attempt = 1; attempt <= attemptsMax; attempt++) {
        const rewind = await rewinds.findOne({ _id: id })
        if (rewind === null) throw new ServiceError('NOT_FOUND', { message: `There is no rewind ${id}.` })
        if (rewind.done) return viewOf(rewind)
        const counted = { rewindId: id, firstSeq: { $gt: rewind.countedSeq } }
        const known = await parts.find(counted).sort({ firstSeq: 1 }).toArray()
        const done = acknowledgedSequence >= rewind.toSeq
        const passed = done
          ? known
          : known.filter(({ firstSeq }) => lastSeqOf(firstSeq) <= acknowledgedSequence)
        const view = viewOf({ ...rewind, ...addCounts(rewind, countParts(known)), done })
        if (!done && passed.length === 0) return view
        if (await addUp(rewind, passed, done)) return view
      }
      throw new ServiceError('SERVICE_UNAVAILABLE', { cause: new Error(`rewind ${id} kept changing`) })
    },
  }

  /** False when somebody else was first. */
  async function addUp(
    rewind: RewindDocument,
    passed: readonly PartDocument[],
    done: boolean,
  ): Promise<boolean> {
    const { _id, toSeq } = rewind
    const countedSeq = done ? toSeq : lastSeqOf(passed.at(-1)?.firstSeq ?? rewind.fromSeq)
    const { matchedCount } = await rewinds.updateOne(
      { _id, countedSeq: rewind.countedSeq, done: false },
      { $set: { ...addCounts(rewind, countParts(passed)), countedSeq, done } },
    )
    if (matchedCount === 0) return false
    await parts.deleteMany({ rewindId: _id, firstSeq: { $lte: countedSeq } })
    return true
  }

  async function add(rewindId: string, firstSeq: number, messages: readonly HandledMessage[]): Promise<void> {
    const update = {
      $bit: bitsOf(firstSeq, messages),
      $setOnInsert: { rewindId, firstSeq, createdAt: clock.now() },
    }
    for (let attempt = 1; ; attempt++) {
      try {
        await parts.updateOne({ _id: `${rewindId}/${firstSeq}` }, update, { upsert: true })
        return
      } catch (error) {
        // Another replica has made it meanwhile.
        if (!isDuplicateKey(error) || attempt === attemptsMax) throw error
      }
    }
  }
}

/** Whether a message belongs to a rewind. */
export function isWithin({ fromSeq, toSeq }: OpenRewind, seq: number): boolean {
  return seq >= fromSeq && seq <= toSeq
}

function lastSeqOf(firstSeq: number): number {
  return firstSeq + partSize - 1
}

function viewOf(rewind: RewindDocument): RewindView {
  const { fromSeq, toSeq, seen, repaired, unchanged, parked, done } = rewind
  return { rewind_id: rewind._id, from_seq: fromSeq, to_seq: toSeq, seen, repaired, unchanged, parked, done }
}
