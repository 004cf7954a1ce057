import { BoundedMap } from '@pitboss/runtime/bounded-map'
import type { Clock } from '@pitboss/runtime/clock'
import { type Poll, startPoll } from '@pitboss/runtime/poll'
import { shuffled } from '@pitboss/runtime/shuffled'
import type { Logger } from 'pino'
import type { advanceDue } from '../actions/advance-due.ts'

type Movement = Parameters<typeof advanceDue>[1]

type DueWork = {
  /** The first wallet after `after`, by key, that has a movement due now; null when there is none. */
  nextWallet(after: string): Promise<string | null>
  /** The movements of a wallet that are due now, longest due first. */
  ofWallet(walletKey: string, limit: number): Promise<Movement[]>
  isSilent(walletKey: string): boolean
  isStake(document: Movement): boolean
  advance(document: Movement, requestId: string): Promise<Movement>
}

type Parts = { due: DueWork; clock: Clock; newRequestId: () => string; logger: Logger }

/** Further tries of stakes, and all that is owed. */
const kinds = ['owed', 'stakes'] as const

/** The due movements of one kind of a wallet: slow stakes take no place of what is owed. */
type Lane = {
  readonly key: string
  readonly kind: (typeof kinds)[number]
  readonly queue: Movement[]
  running: number
  /** The bound of `running` while the wallet answers. */
  places: number
  /** The last page was full: more must be read before the queue is empty. */
  mayHaveMore: boolean
}

/** Milliseconds of the longest due; `full`: its wallet has all calls it gets; `silent`: it answers none. */
type DueLags = Readonly<Record<'answering' | 'full' | 'silent', number>>

/** The work on what is due; `dueLags` returns what waits, as of the latest sweep. */
type Resolver = Poll & { dueLags(): DueLags }

const pollMs = 500
const queueMax = 128
const refillBelow = 32
const runningPerWalletMax = 32
/** The bound for a silent wallet; one place more after each answer, so that its backlog comes slowly. */
const runningPerWalletMin = 2
const runningMax = 256
/** Of these, the most for all wallets together that do not answer: theirs take as long as their time-out. */
const runningSilentMax = 128
/** And the most for stakes, which never hold back what is owed. Source: docs/contract.md, section 6. */
const runningStakesMax = 128
/** The most movements that are read to find one that is not at work or paused. */
const lookMax = 8192
const walletsPerSweepMax = 5000
const failedPauseMs = 5000
const busyPauseMs = 200
const pausedMax = 10_000

/**
 * Advances every due movement, every 500 ms and at each `wake`. Each wallet has a bounded lane for stakes and
 * one for what is owed; stakes, and wallets that are silent, share half of the places, so that none delays
 * the credits of a wallet that answers. Between replicas the fenced write decides.
 */
export function startResolver({ due, clock, newRequestId, logger }: Parts): Resolver {
  const lanes = new Map<string, Lane>()
  const atWork = new Map<string, Promise<void>>()
  const queued = new Set<string>()
  const pausedUntil = new BoundedMap<string, number>(pausedMax)
  let silentAtWork = 0
  let stakesAtWork = 0
  let stopped = false
  /** The next sweep begins after the last one's wallet, so that every wallet has its turn. */
  let sweptTo = ''

  async function sweep(): Promise<void> {
    for (let seen = 0; seen < walletsPerSweepMax && !stopped; seen++) {
      const key = await due.nextWallet(sweptTo)
      sweptTo = key ?? ''
      if (key === null) break
      releaseSpent(lanes.get(nameOf('stakes', key)))
      const page = await due.ofWallet(key, queueMax)
      for (const kind of kinds) {
        const idle = { key, kind, queue: [], running: 0, places: runningPerWalletMin, mayHaveMore: false }
        const lane: Lane = lanes.get(nameOf(kind, key)) ?? idle
        if (lane.queue.length < refillBelow) await refill(lane, page)
        if (lane.queue.length > 0) lanes.set(nameOf(kind, key), lane)
        pump(lane)
      }
    }
  }

  /** Lets go of stakes that have no further try: what ends them is owed. */
  function releaseSpent(lane: Lane | undefined): void {
    for (const document of lane?.queue.splice(0) ?? []) {
      if (due.isStake(document)) lane?.queue.push(document)
      else queued.delete(document._id)
    }
  }

  /** @param page the movements of the wallet that are longest due, of either kind */
  async function refill(lane: Lane, page: readonly Movement[]): Promise<void> {
    // What is at work or paused stays due longest: further pages look behind it, and behind stakes, of which
    // there are so many as are in flight. Stakes wait for what is owed.
    for (let limit = queueMax; limit <= lookMax; limit *= 4) {
      const found = limit === queueMax ? page : await due.ofWallet(lane.key, limit)
      lane.mayHaveMore = found.length === limit
      const free = found.filter(isFree)
      const isWanted = (document: Movement) => due.isStake(document) === (lane.kind === 'stakes')
      const fresh = free.filter(isWanted).slice(0, queueMax)
      for (const document of shuffled(fresh)) {
        queued.add(document._id)
        lane.queue.push(document)
      }
      if (fresh.length > 0 || !lane.mayHaveMore) return
      if (lane.kind === 'stakes' && free.length > 0) return
    }
  }

  function isFree({ _id }: Movement): boolean {
    if (queued.has(_id) || atWork.has(_id)) return false
    const pause = pausedUntil.get(_id)
    if (pause !== undefined && pause > clock.now().getTime()) return false
    pausedUntil.delete(_id)
    return true
  }

  function pump(lane: Lane): void {
    while (mayStart(lane)) startNext(lane)
    if (lane.queue.length === 0 && lane.running === 0) lanes.delete(nameOf(lane.kind, lane.key))
  }

  function mayStart(lane: Lane): boolean {
    if (lane.queue.length === 0 || atWork.size >= runningMax || stopped) return false
    if (lane.kind === 'stakes' && stakesAtWork >= runningStakesMax) return false
    if (!due.isSilent(lane.key)) return lane.running < lane.places
    return lane.running < runningPerWalletMin && silentAtWork < runningSilentMax
  }

  function startNext(lane: Lane): void {
    const document = lane.queue.shift()
    if (document === undefined) return
    queued.delete(document._id)
    lane.running += 1
    const share = due.isSilent(lane.key) ? 1 : 0
    silentAtWork += share
    stakesAtWork += lane.kind === 'stakes' ? 1 : 0
    const work = run(document).finally(() => {
      lane.running -= 1
      silentAtWork -= share
      stakesAtWork -= lane.kind === 'stakes' ? 1 : 0
      lane.places = due.isSilent(lane.key)
        ? runningPerWalletMin
        : Math.min(runningPerWalletMax, lane.places + 1)
      atWork.delete(document._id)
      afterRun(lane)
    })
    atWork.set(document._id, work)
  }

  /** A place that was scarce goes to the lane with the fewest running calls. */
  function afterRun(lane: Lane): void {
    if (stopped) return
    const isFirstFree =
      atWork.size === runningMax - 1 ||
      silentAtWork === runningSilentMax - 1 ||
      stakesAtWork === runningStakesMax - 1
    if (isFirstFree) {
      const [first, ...others] = [...lanes.values()].filter(mayStart)
      if (first !== undefined) startNext(others.reduce((a, b) => (b.running < a.running ? b : a), first))
    }
    pump(lane)
    if (!lane.mayHaveMore || lane.queue.length >= refillBelow) return
    lane.mayHaveMore = false
    poll.wake()
  }

  async function run(document: Movement): Promise<void> {
    try {
      const { dueAt } = await due.advance(document, newRequestId())
      const inMs = (dueAt?.getTime() ?? Number.POSITIVE_INFINITY) - clock.now().getTime()
      if (inMs <= 0) pause(document._id, busyPauseMs)
      else if (inMs < pollMs) setTimeout(poll.wake, inMs).unref()
    } catch (err) {
      logger.error({ err, reference: document.reference }, 'movement.not-advanced')
      pause(document._id, failedPauseMs)
    }
  }

  /** Skips a movement for a while: its round is busy, or its step failed. */
  function pause(id: string, ms: number): void {
    pausedUntil.set(id, clock.now().getTime() + ms)
  }

  function dueLags(): DueLags {
    const nowMs = clock.now().getTime()
    const lags = { answering: 0, full: 0, silent: 0 }
    for (const { key, queue, running, places } of lanes.values()) {
      const standing = due.isSilent(key) ? 'silent' : running >= places ? 'full' : 'answering'
      const firstMs = Math.min(...queue.map(({ dueAt }) => dueAt?.getTime() ?? nowMs))
      lags[standing] = Math.max(lags[standing], nowMs - firstMs)
    }
    return lags
  }

  const poll = startPoll({ event: 'resolver.sweep-failed', everyMs: pollMs, work: sweep, logger })
  return {
    wake: poll.wake,
    dueLags,
    async stop() {
      stopped = true
      await poll.stop()
      await Promise.allSettled(atWork.values())
    },
  }
}

const nameOf = (kind: Lane['kind'], key: string): string => `${kind} ${key}`
