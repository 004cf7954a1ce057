import type { Clock } from '@pitboss/runtime/clock'
import type { Logger } from 'pino'
import type { AdvanceDue } from '../actions/advance-due.ts'
import type { Breakers } from '../clients/breakers.ts'
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
  /** How many may run at once while the wallet answers. */
  places: number
  /** The last page was full: look again before the queue is empty. */
  mayHaveMore: boolean
}

const pollMs = 500
const queueMax = 128
const refillBelow = 32
const runningPerWalletMax = 32
/**
 * For a wallet that does not answer: enough to notice that it is back. One that answers is asked by so many
 * at first and by one more after each call, so that what waits for a wallet that has just come back is not
 * sent to it all at once.
 */
const runningPerWalletMin = 2
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
  /** Where the last sweep ended: the next goes on behind it, so that no wallet comes too late for every sweep. */
  let sweptTo = ''

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
    for (let seen = 0; seen < walletsPerSweepMax && !stopped; seen++) {
      const key = await due.nextWallet(sweptTo, clock.now())
      sweptTo = key ?? ''
      if (key === null) break
      const lane = lanes.get(key) ?? {
        key,
        queue: [],
        running: 0,
        places: runningPerWalletMin,
        mayHaveMore: false,
      }
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
    while (mayStart(lane)) startNext(lane)
    if (lane.queue.length === 0 && lane.running === 0) lanes.delete(lane.key)
  }

  function mayStart(lane: Lane): boolean {
    const max = breakers.isOpen(lane.key) ? runningPerWalletMin : lane.places
    return lane.queue.length > 0 && lane.running < max && atWork.size < runningMax && !stopped
  }

  function startNext(lane: Lane): void {
    const document = lane.queue.shift()
    if (document === undefined) return
    queued.delete(document._id)
    lane.running += 1
    const work = run(document).finally(() => {
      lane.running -= 1
      lane.places = breakers.isOpen(lane.key)
        ? runningPerWalletMin
        : Math.min(runningPerWalletMax, lane.places + 1)
      atWork.delete(document._id)
      afterRun(lane)
    })
    atWork.set(document._id, work)
  }

  /** Keeps the lane going. When every place was taken, the free one is for whoever has fewest, not for who just gave it back. */
  function afterRun(lane: Lane): void {
    if (stopped) return
    if (atWork.size === runningMax - 1) {
      const [first, ...others] = [...lanes.values()].filter(mayStart)
      if (first !== undefined) startNext(others.reduce(fewestRunning, first))
    }
    pump(lane)
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

function fewestRunning(a: Lane, b: Lane): Lane {
  return b.running < a.running ? b : a
}

/** In no order, so that two replicas that read the same page seldom meet. */
function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
