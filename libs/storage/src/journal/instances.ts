import type { Collection } from 'mongodb'
import { insertedFirst } from '../create-once.ts'
import { ownerOf } from './owner-of.ts'

/** One run of a process, from its start to its end. Operations read it; so names are whole. */
export type InstanceDocument = {
  /** The instance's id: the `o` of its entries. */
  readonly _id: string
  readonly startedAt: Date
  readonly build: string
  /** Raised every second; what others judge by is whether it moves. */
  readonly beat: number
  /** Until when it promises to beat again; for people, since clocks differ. */
  readonly aliveUntil: Date
  /** All duties of its entries up to this number are done. */
  readonly done: number
  /** Its last running number. */
  readonly last: number
  /** When the oldest of its entries was made whose duties are not done; null when all are. */
  readonly oldestAt: Date | null
  /** Since when it counts as dead, or has ended: it never beats again. */
  readonly judgedAt: Date | null
  /** The place of its process, in which one process runs at a time; absent where none is set. */
  readonly slot?: string
  /** Whether another instance has begun since its last beat. */
  readonly hasNews?: true
  /** When its process was known to have ended: what it had under way is over. */
  readonly exitedAt?: Date
}

/** How far an instance is with the duties of its entries. */
export type Progress = Pick<InstanceDocument, 'done' | 'last' | 'oldestAt'>

/** What a process has seen of another one: its last beat, and since when it stands still. */
type Sighting = { readonly beat: number; readonly sinceMs: number }

type Beat = {
  /** The instance that goes on; another one than before when it was judged dead or had fallen silent. */
  readonly instance: string
  readonly isNew: boolean
  /** Instances that are dead and not recovered yet, of which this process is to recover these. */
  readonly toRecover: readonly Pick<InstanceDocument, '_id' | 'done'>[]
  /** All that are alive, itself included. */
  readonly alive: readonly string[]
}

const promisedMs = 4000
/** Who stands still for so long is dead. */
const deadAfterMs = 4000
/** Who had a gap of his own waits before he judges others. */
const gapMs = 2000
const afterGapMs = 5000
/** Who knows of no other instance looks for others with every fifth beat, and once one has begun. */
const beatsPerLookAlone = 5

export type Instances = ReturnType<typeof createInstances>

/**
 * Judges who is alive among the processes of one service, by a document that each raises every second.
 * Whether another one stands still is judged by the steady clock of the judge, so clocks that differ do no
 * harm; and the judgement is one update that only a document which has not moved since lets through. A
 * process in a slot proves by its start that the ones before it there have ended.
 */
export function createInstances({
  collection,
  build,
  slot = null,
  newInstance,
  shareOf = (dead, alive, self) => ownerOf(dead, alive) === self,
  now,
  steadyMs,
}: {
  collection: Collection<InstanceDocument>
  /** The commit or release that runs. */
  build: string
  /** In which one process runs at a time: the next one starts when the one before has ended. */
  slot?: string | null
  /** An id that no other instance ever had. */
  newInstance: () => string
  /** Whether `self` is the one of `alive` that recovers `dead`. */
  shareOf?: (dead: string, alive: readonly string[], self: string) => boolean
  now: () => Date
  /** Milliseconds of a clock that never jumps. */
  steadyMs: () => number
}) {
  let id = newInstance()
  let isStored = false
  let beats = 0
  /** When the last beat that succeeded was sent. */
  let lastBeatMs = steadyMs()
  let judgesFromMs = steadyMs() + deadAfterMs
  /** Once: two processes that share a slot by mistake do not end each other for ever. */
  let hasEndedPredecessors = slot === null
  const sightings = new Map<string, Sighting>()
  /** Beats that this process, which is alone, makes without a look for others; 0 while it knows of any. */
  let beatsToLook = 0

  async function begin(): Promise<void> {
    const at = now()
    const progress = { done: 0, last: 0, oldestAt: null }
    const place = slot === null ? {} : { slot }
    const alive = { beat: 0, aliveUntil: promised(at), judgedAt: null }
    const document = { startedAt: at, build, ...place, ...alive, ...progress }
    // A beginning whose answer was lost may stand already; nobody else has this id.
    await insertedFirst(() => collection.insertOne({ _id: id, ...document }))
    await collection.updateMany({ _id: { $ne: id }, judgedAt: null }, { $set: { hasNews: true } })
    isStored = true
  }

  /** Raises the own document. False when it was judged dead meanwhile. */
  async function raise(progress: Progress): Promise<boolean> {
    beats += 1
    const before = await collection.findOneAndUpdate(
      { _id: id, judgedAt: null },
      { $set: { beat: beats, aliveUntil: promised(now()), ...progress }, $unset: { hasNews: '' } },
      { projection: { hasNews: 1 } },
    )
    if (before?.hasNews === true) beatsToLook = 0
    return before !== null
  }

  /** Nothing is written under this id any more: others need not wait until they have judged it. */
  async function markEnded(instance: string, progress?: Progress): Promise<void> {
    await collection.updateOne({ _id: instance, judgedAt: null }, { $set: { ...progress, judgedAt: now() } })
  }

  function beginAnew(): void {
    id = newInstance()
    isStored = false
    beats = 0
  }

  /** Marks the processes that ran in this slot before: this one could not have started beside them. */
  async function endPredecessors(all: readonly InstanceDocument[]): Promise<readonly InstanceDocument[]> {
    if (hasEndedPredecessors) return []
    const before = all.filter((one) => one.slot === slot && one._id !== id)
    for (const { _id, judgedAt } of before) {
      const at = now()
      await collection.updateOne({ _id }, { $set: { judgedAt: judgedAt ?? at, exitedAt: at } })
    }
    hasEndedPredecessors = true
    return before
  }

  /** Judges those whose document stands still; a document that has moved since is let be. */
  async function judge(others: readonly InstanceDocument[]): Promise<readonly InstanceDocument[]> {
    const atMs = steadyMs()
    const still: InstanceDocument[] = []
    for (const other of others) {
      const seen = sightings.get(other._id)
      if (seen?.beat !== other.beat) sightings.set(other._id, { beat: other.beat, sinceMs: atMs })
      else if (atMs - seen.sinceMs >= deadAfterMs && atMs >= judgesFromMs) still.push(other)
    }
    for (const known of sightings.keys()) {
      if (!others.some(({ _id }) => _id === known)) sightings.delete(known)
    }
    const judged = await Promise.all(
      still.map(({ _id, beat }) =>
        collection.updateOne({ _id, beat, judgedAt: null }, { $set: { judgedAt: now() } }),
      ),
    )
    return still.filter((_, index) => judged[index]?.matchedCount === 1)
  }

  return {
    /** The id under which this process writes now; null while others may have judged it dead. */
    current: () => (isStored && steadyMs() - lastBeatMs < deadAfterMs ? id : null),
    /**
     * One update and one read, to be made every second; of a process that knows of no other the update only,
     * which shows whether one has begun since. When it rejects, nothing was learnt; after 4 s without one
     * that succeeds, the next one begins a new instance.
     * @param progressOf of an instance; asked for this process's current one
     */
    async beat(progressOf: (instance: string) => Progress): Promise<Beat> {
      let sentMs = steadyMs()
      const fellSilent = isStored && sentMs - lastBeatMs >= deadAfterMs
      if (sentMs - lastBeatMs >= gapMs) judgesFromMs = sentMs + afterGapMs
      if (fellSilent) {
        await markEnded(id)
        beginAnew()
      }
      const before = isStored
      if (!before) await begin()
      const isAlive = before ? await raise(progressOf(id)) : true
      if (!isAlive) {
        beginAnew()
        sentMs = steadyMs()
        await begin()
      }
      lastBeatMs = sentMs
      if (before && isAlive && beatsToLook > 0) {
        beatsToLook -= 1
        return { instance: id, isNew: false, toRecover: [], alive: [id] }
      }
      const all = await collection.find({}).toArray()
      const ended = await endPredecessors(all)
      beatsToLook = all.length > 1 ? 0 : beatsPerLookAlone - 1
      const present = all.filter((one) => !ended.includes(one))
      const others = present.filter(({ _id, judgedAt }) => _id !== id && judgedAt === null)
      const judged = await judge(others)
      const alive = [id, ...others.filter((other) => !judged.includes(other)).map(({ _id }) => _id)]
      const dead = [...present.filter(({ judgedAt }) => judgedAt !== null), ...ended, ...judged]
      const toRecover = dead.filter(({ _id }) => shareOf(_id, alive, id))
      return { instance: id, isNew: fellSilent || !isAlive, toRecover, alive }
    },
    /** All that have a document: those that are alive, and those that are not recovered yet. */
    async readKnown(): Promise<readonly string[]> {
      const known = await collection.find({}, { projection: { _id: 1 } }).toArray()
      return known.map(({ _id }) => _id)
    },
    /** All that are stored and not judged dead; any other instance may not act. */
    async readAlive(): Promise<readonly string[]> {
      const alive = await collection.find({ judgedAt: null }, { projection: { _id: 1 } }).toArray()
      return alive.map(({ _id }) => _id)
    },
    /** Whether an instance is stored and not dead: one that is not alive never is again. */
    isAlive: async (instance: string): Promise<boolean> =>
      (await collection.findOne({ _id: instance, judgedAt: null }, { projection: { _id: 1 } })) !== null,
    /** Those of these instances whose processes are known to have ended. */
    async readExited(among: readonly string[]): Promise<readonly string[]> {
      const known = among.length === 0 ? [] : await collection.find({}).toArray()
      return known
        .filter(({ _id, exitedAt }) => exitedAt !== undefined && among.includes(_id))
        .map(({ _id }) => _id)
    },
    /** Records that a dead instance has nothing left that is unfinished. */
    async recovered(instance: string): Promise<void> {
      await collection.deleteOne({ _id: instance, judgedAt: { $ne: null } })
    },
    /** A clean end: others take over at once what is left of this instance. */
    async leave(progress: Progress): Promise<void> {
      if (!isStored) return
      isStored = false
      await markEnded(id, progress)
    },
  }
}

function promised(at: Date): Date {
  return new Date(at.getTime() + promisedMs)
}
