import { mapBounded } from '@pitboss/runtime/map-bounded'
import type { Logger } from 'pino'
import type { Duties } from './duties.ts'
import type { Instances } from './instances.ts'
import type { Entry, Loaded } from './journal.ts'
import { entryNumber, type StreamKey } from './journal-keys.ts'

/** Unfinished streams that owe something, or all, also those that wait for somebody. */
export type Unfinished = 'owed' | 'all'

/** What take-overs need of the journal and of its service. */
type Parts<Fact> = {
  readonly instances: Pick<Instances, 'readKnown'>
  readonly duties: Pick<Duties<Fact>, 'listed'>
  /** @param fromMemory false reads past the memory */
  readonly read: (stream: StreamKey, fromMemory: boolean) => Promise<Loaded<Fact>>
  readonly isFinished: (entries: readonly Entry<Fact>[]) => boolean
  readonly takeOver: (stream: StreamKey) => Promise<void>
  /** The instance that this process is; null while it may count as dead. */
  readonly current: () => string | null
  readonly unfinished: (
    limit: number,
    others: readonly string[],
    which: Unfinished,
  ) => Promise<readonly StreamKey[]>
  readonly steadyMs: () => number
  readonly pause: (ms: number) => Promise<void>
  readonly logger: Logger
}

export type TakeOvers = ReturnType<typeof createTakeOvers>

const listedPerRead = 200
const atOnce = 16
/** After this many of the listed streams each further group is followed by a rest, so many times as long. */
const listedWithoutRest = 200
const restPerWork = 3

export function createTakeOvers<Fact>({
  instances,
  duties,
  read,
  isFinished,
  takeOver,
  current,
  unfinished,
  steadyMs,
  pause,
  logger,
}: Parts<Fact>) {
  /** Streams that this process has begun to take over, perhaps as their last writer, and has failed at. */
  const begun = new Map<StreamKey, symbol>()

  /** @returns whether it was to be taken over */
  async function takeOne(
    stream: StreamKey,
    isDead: (o: string) => boolean | Promise<boolean>,
  ): Promise<boolean> {
    const { entries, unclaimed } = await read(stream, false)
    const [last] = [...entries, ...unclaimed].sort((a, b) => entryNumber(b._id) - entryNumber(a._id))
    const isOver = last === undefined || (unclaimed.length === 0 && isFinished(entries))
    const isToTake = !isOver && ((await isDead(last.o)) || (begun.has(stream) && last.o === current()))
    if (isToTake) await taking(stream, () => takeOver(stream))
    // Another look that leaves the stream says nothing of a take-over that fails meanwhile.
    if (isOver) begun.delete(stream)
    return isToTake
  }

  /** Runs a take-over that somebody waits for. Where it fails, `take` repeats what it has begun. */
  async function taking<Result>(stream: StreamKey, takeOver: () => Promise<Result>): Promise<Result> {
    const own = Symbol(stream)
    begun.set(stream, own)
    const result = await takeOver()
    // One that began later and has failed is repeated.
    if (begun.get(stream) === own) begun.delete(stream)
    return result
  }

  async function takeAll(
    streams: readonly StreamKey[],
    one: (stream: StreamKey) => Promise<boolean>,
    isOver: () => boolean,
  ): Promise<{ readonly taken: number; readonly failed: number }> {
    let [taken, failed] = [0, 0]
    await mapBounded(streams, atOnce, async (stream) => {
      if (isOver()) return
      try {
        if (await one(stream)) taken += 1
      } catch (err) {
        failed += 1
        logger.error({ err, stream }, 'journal.take-over-failed')
      }
    })
    return { taken, failed }
  }

  return {
    taking,
    /**
     * Takes streams over, where they are unfinished and `isDead` is true of their last writer. Once `isOver`
     * it begins no further one.
     * @returns how many it took, and those that failed, each of which is logged
     */
    take: (streams: readonly StreamKey[], isDead: (o: string) => boolean, isOver: () => boolean) =>
      takeAll([...new Set([...streams, ...begun.keys()])], (stream) => takeOne(stream, isDead), isOver),
    /**
     * As `take`, of the streams whose list documents show as writer an instance that is gone or is `dead`.
     * Lists them at once, so that the documents show who has them now. There may be very many, and requests
     * go first: after 200 they take a quarter of the time, those that owe something before those that wait.
     * However many fail, those listed after them have their turn.
     */
    async takeListed({
      dead,
      isOver,
    }: {
      dead?: string
      isOver: () => boolean
    }): Promise<{ readonly taken: number; readonly failed: number }> {
      const seen = new Set<StreamKey>()
      let [taken, failed] = [0, 0]
      const others = async () => (await instances.readKnown()).filter((o) => o !== dead)
      // An instance has its document before its first entry: one that has written is known when asked after.
      const isDead = async (o: string) => o === dead || !(await instances.readKnown()).includes(o)
      const takeAndList = async (stream: StreamKey) => {
        seen.add(stream)
        const isTaken = await takeOne(stream, isDead)
        const { last } = await read(stream, true)
        if (last > 0) await duties.listed(stream, last)
        return isTaken
      }
      const takeGroup = async (group: readonly StreamKey[]) => {
        const some = await takeAll(group, takeAndList, isOver)
        taken += some.taken
        failed += some.failed
      }
      for (const which of ['owed', 'all'] as const) {
        let limit = listedPerRead
        for (let isMore = true; isMore && !isOver(); ) {
          const streams = await unfinished(limit, await others(), which)
          const fresh = streams.filter((stream) => !seen.has(stream))
          for (let at = 0; at < fresh.length && !isOver(); at += atOnce) {
            const beganMs = steadyMs()
            await takeGroup(fresh.slice(at, at + atOnce))
            if (seen.size > listedWithoutRest) await pause(restPerWork * (steadyMs() - beganMs))
          }
          isMore = streams.length === limit
          limit = listedPerRead + streams.length - fresh.length
        }
      }
      return { taken, failed }
    },
  }
}
