import type { Clock } from '@pitboss/runtime/clock'
import type { Logger } from 'pino'
import type { AdvanceDue } from '../settlement/advance-due.ts'
import type { Breakers } from '../settlement/breakers.ts'
import type { MovementDocument } from '../storage/movement-document.ts'
import type { DueMovements } from '../storage/due-movements.ts'

/** Ends what no caller waits for: every movement that is due, of every wallet. */
export type Resolver = {
  /** Looks for due movements at once; cheap to call often. */
  wake(): void
  stop(): Promise<void>
}

type Lane = {
  readonly key: string
  readonly queue: MovementDocument[]
  running: number
  /** The last page was full: look again before the queue is empty. */
  mayHaveMore: boolean
}

const pollMs = 500
const queueMax = 128
const refillBelow = 32
const runningPerWalletMax = 32
/** For a wallet that does not answer: enough to notice that it is back. */
const runningPerSilentWalletMax = 2
const runningMax = 256
const walletsPerSweepMax = 5000
const failedPauseMs = 5000
const busyPauseMs = 200
const pausedMax = 10_000

/**
 * One lane per wallet with work that is due, each with its own bound, so that a dead wallet delays nobody else's credits.
 * Found by a poll every 500 ms and by `wake`. Replicas may work the same wallet: the compare-and-set of each movement decides.
 */
export function startResolver({
  due,
  advance,
  breakers,
  clock,
  newRequestId,
  logger,
}: {
  due: DueMovements
  advance: AdvanceDue
  breakers: Pick<Breakers, 'isOpen'>
  clock: Clock
  newRequestId: () => string
  logger: Logger
}): Resolver {
  const lanes = new Map<string, Lane>()
  const atWork = new Map<string, Promise<void>>()
  const queued = new Set<string>()
  const pausedUntil = new Map<string, number>()
  let stopped = false
  let wakeUp: (() => void) | null = null
  let woken = false

  function wake(): void {
    woken = true
    wakeUp?.()
  }

  async function loop(): Promise<void> {
    while (!stopped) {
      woken = false
      try {
        await sweep()
      } catch (err) {
        logger.error({ err }, 'resolver.sweep-failed')
      }
      if (!woken && !stopped) await nap()
    }
  }

  function nap(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(done, pollMs)
      wakeUp = done
      function done(): void {
        clearTimeout(timer)
        wakeUp = null
        resolve()
      }
    })
  }

  async function sweep(): Promise<void> {
    let after = ''
    for (let seen = 0; seen < walletsPerSweepMax && !stopped; seen++) {
      const key = await due.nextWallet(after, clock.now())
      if (key === null) break
      after = key
      const lane = lanes.get(key) ?? { key, queue: [], running: 0, mayHaveMore: false }
      if (lane.queue.length < refillBelow) await refill(lane)
      if (lane.queue.length > 0) lanes.set(key, lane)
      pump(lane)
    }
  }

  async function refill(lane: Lane): Promise<void> {
    const now = clock.now()
    const found = await due.ofWallet(lane.key, now, queueMax)
    lane.mayHaveMore = found.length === queueMax
    const fresh = found.filter(({ _id }) => {
      if (queued.has(_id) || atWork.has(_id)) return false
      const pause = pausedUntil.get(_id)
      if (pause !== undefined && pause > now.getTime()) return false
      pausedUntil.delete(_id)
      return true
    })
    for (const document of shuffled(fresh)) {
      queued.add(document._id)
      lane.queue.push(document)
    }
  }

  function pump(lane: Lane): void {
    const max = breakers.isOpen(lane.key) ? runningPerSilentWalletMax : runningPerWalletMax
    while (lane.running < max && atWork.size < runningMax && !stopped) {
      const document = lane.queue.shift()
      if (document === undefined) break
      queued.delete(document._id)
      lane.running += 1
      const work = run(document).finally(() => {
        lane.running -= 1
        atWork.delete(document._id)
        afterRun(lane)
      })
      atWork.set(document._id, work)
    }
    if (lane.queue.length === 0 && lane.running === 0) lanes.delete(lane.key)
  }

  /** Keeps the lane going, and the others when this one gave back one of the last places. */
  function afterRun(lane: Lane): void {
    if (stopped) return
    pump(lane)
    if (atWork.size === runningMax - 1) for (const other of lanes.values()) pump(other)
    if (!lane.mayHaveMore || lane.queue.length >= refillBelow) return
    lane.mayHaveMore = false
    wake()
  }

  async function run(document: MovementDocument): Promise<void> {
    try {
      const { document: after } = await advance.advance(document, newRequestId())
      const inMs = (after.dueAt?.getTime() ?? Number.POSITIVE_INFINITY) - clock.now().getTime()
      if (inMs <= 0) pause(document._id, busyPauseMs)
      else if (inMs < pollMs) setTimeout(wake, inMs).unref()
    } catch (err) {
      logger.error({ err, reference: document.reference }, 'movement.not-advanced')
      pause(document._id, failedPauseMs)
    }
  }

  /** Leaves a movement alone for a while that could not be taken further now: its round is busy, or something failed. */
  function pause(id: string, ms: number): void {
    if (pausedUntil.size >= pausedMax) pausedUntil.clear()
    pausedUntil.set(id, clock.now().getTime() + ms)
  }

  const looping = loop()
  return {
    wake,
    async stop() {
      stopped = true
      wakeUp?.()
      await looping
      await Promise.allSettled(atWork.values())
    },
  }
}

/** In no order, so that two replicas that read the same page seldom meet. */
function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
