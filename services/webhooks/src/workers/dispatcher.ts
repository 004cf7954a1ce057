import { setTimeout as delay } from 'node:timers/promises'
import type { Scope } from '@pitboss/contracts/caller'
import { mapBounded } from '@pitboss/runtime/map-bounded'
import { startPoll } from '@pitboss/runtime/poll'
import type { Instances, Progress } from '@pitboss/storage/journal/instances'
import type { Recorded } from '../actions/record-events.ts'
import {
  accountKey,
  type EndpointSummary,
  endsOf,
  isOwner,
  type LogEndNote,
  type Notification,
  takeEndpoint,
} from '../actions/share-endpoints.ts'
import { type EndpointRunner, runEndpoint, type RunnerDeps } from './endpoint-runner.ts'
import type { LateEndpoint } from './lateness-teller.ts'

const beatEveryMs = 1000
/** Of the duties of a journal, of which this service has none. */
const nothingLeft: Progress = { done: 0, last: 0, oldestAt: null }
/** Without a beat for so long this process acts no more: others may have taken its endpoints over. */
const aliveForMs = 3900
/** A worker without a beat looks again this soon. */
const notAliveMs = 50
/** Everything of a page of endpoints is compared with the database this often. */
const scanEveryMs = 1000
const scanPage = 500
const takesAtOnce = 16
const endsAtOnce = 8
/** Accounts whose logs are looked at in one scan, for notifications that got lost. */
const endsPerScan = 50
const recordSuccessesEveryMs = 1000
/** Attempts get this long to end when the process is told to stop, of the ten seconds that it has. */
const stopWithinMs = 7000

export type Dispatcher = {
  /** Takes no more endpoints, lets attempts in flight end, gives all leases back. */
  stop(): Promise<void>
  /** Has events delivered of which messages came to this process, also by other processes. */
  onRecorded(batch: Recorded): void
  /** The endpoints that no live worker has, as they were last found. */
  untaken(): readonly EndpointSummary[]
  /** How late the deliveries of the endpoints are that this worker runs. */
  lateness(now: Date): LateEndpoint[]
}

/**
 * Shares all endpoints among the processes that are alive, and runs those of this one. An endpoint changes
 * hands when its worker gives its lease back, or is dead. A process that could not beat, or whose clock is
 * wrong, drops all that it runs.
 * @param listen subscribes to the notifications of all processes; returns the end of it
 */
export function startDispatcher({
  listen,
  clockAgrees,
  instances,
  ...deps
}: Omit<RunnerDeps, 'isAlive'> & {
  /** Whether what is due by this machine's clock is due. */
  clockAgrees: () => boolean
  instances: Instances
  listen: (onNotification: (notification: Notification) => void) => () => void
}): Dispatcher {
  const { endpoints, events: log, tail, notifyWorkers, recordSuccesses, logger } = deps
  const runs = new Map<string, EndpointRunner>()
  /** The same by account. */
  const byScope = new Map<string, { readonly scope: Scope; readonly runners: Map<string, EndpointRunner> }>()
  const taking = new Set<string>()
  const untaken = new Map<string, EndpointSummary>()
  /** Endpoints to be read and compared, beside those of the next page. */
  const wanted = new Set<string>()
  let alive: readonly string[] = []
  /** Of these, those that take no more endpoints. */
  const leaving = new Set<string>()
  let lastBeatAtMs = Number.NEGATIVE_INFINITY
  let scannedTo = ''
  /** Whether all endpoints are to be compared as soon as can be. */
  let isHurried = true
  let looked = 0
  const isAlive = () => performance.now() - lastBeatAtMs < aliveForMs
  const runnerDeps = { ...deps, isAlive }

  async function beat(): Promise<void> {
    const startedAtMs = performance.now()
    if (!clockAgrees()) {
      lastBeatAtMs = Number.NEGATIVE_INFINITY
      dropAll('worker.clock-wrong')
      return
    }
    try {
      const beaten = await instances.beat(() => nothingLeft)
      if (beaten.isNew) dropAll('worker.leases-lost')
      const changed = beaten.alive.toSorted().join() !== alive.toSorted().join()
      alive = beaten.alive
      lastBeatAtMs = startedAtMs
      for (const { _id } of beaten.toRecover) {
        if (!(await endpoints.hasLeases(_id))) await instances.recovered(_id)
      }
      for (const instance of leaving) if (!alive.includes(instance)) leaving.delete(instance)
      if (changed) scanAnew()
    } finally {
      if (!isAlive()) dropAll('worker.leases-lost')
    }
  }

  function dropAll(why: string): void {
    if (runs.size === 0) return
    logger.error({ endpoints: runs.size }, why)
    for (const runner of runs.values()) runner.stop()
  }

  function scanAnew(): void {
    scannedTo = ''
    isHurried = true
    scan.wake()
  }

  /** Compares what is stored of endpoints with what is run. */
  async function compare(found: readonly EndpointSummary[], stopping: AbortSignal): Promise<void> {
    const self = instances.current()
    if (self === null) return
    const takers = alive.filter((instance) => !leaving.has(instance))
    const free: EndpointSummary[] = []
    for (const endpoint of found) {
      const { _id, leaseOwner } = endpoint
      const running = runs.get(_id)
      if (running === undefined && (leaseOwner === null || !alive.includes(leaseOwner)))
        untaken.set(_id, endpoint)
      else untaken.delete(_id)
      if (!isOwner(self, _id, takers)) running?.stop()
      else if (running !== undefined) running.notifyIfBehind(endpoint.wakes)
      else free.push(endpoint)
    }
    const others = alive.filter((instance) => instance !== self)
    await mapBounded(free, takesAtOnce, async (endpoint) => {
      if (!stopping.aborted && isAlive()) await take(endpoint, self, others)
    })
  }

  async function take(summary: EndpointSummary, self: string, others: readonly string[]): Promise<void> {
    const { _id: id } = summary
    if (taking.has(id) || runs.has(id)) return
    taking.add(id)
    try {
      const taken = await takeEndpoint({ endpoints }, summary, self, others)
      if (taken === null) return
      const runner = runEndpoint(runnerDeps, taken)
      add(summary, runner)
      untaken.delete(id)
      void runner.done.then((isReleased) => {
        remove(summary)
        // Its next worker takes it now. After a failure the next scan is soon enough.
        if (isReleased) notifyWorkers([id])
      })
    } finally {
      taking.delete(id)
    }
  }

  function add({ _id, operatorId, environment }: EndpointSummary, runner: EndpointRunner): void {
    const scope = { operatorId, environment }
    const known = byScope.get(accountKey(scope)) ?? { scope, runners: new Map() }
    byScope.set(accountKey(scope), known)
    known.runners.set(_id, runner)
    runs.set(_id, runner)
  }

  function remove(endpoint: EndpointSummary): void {
    const key = accountKey(endpoint)
    const runners = byScope.get(key)?.runners
    runners?.delete(endpoint._id)
    if (runners?.size === 0) byScope.delete(key)
    runs.delete(endpoint._id)
  }

  /** Reads the ends of some logs by turns, of which a notification may have got lost. */
  async function lookForEvents(): Promise<void> {
    const scopes = [...byScope.values()]
    if (looked >= scopes.length) looked = 0
    const some = scopes.slice(looked, looked + endsPerScan)
    looked += some.length
    await mapBounded(some, endsAtOnce, async ({ scope }) => {
      noteEnds([{ ...scope, seq: await log.endOf(scope) }])
    })
  }

  function noteEnds(ends: readonly LogEndNote[]): void {
    for (const end of ends) {
      for (const runner of byScope.get(accountKey(end))?.runners.values() ?? []) runner.noteEnd(end.seq)
    }
  }

  async function scanOnce(stopping: AbortSignal): Promise<number | void> {
    if (!isAlive()) return notAliveMs
    const ids = [...wanted]
    wanted.clear()
    if (ids.length > 0) await compare(await endpoints.summaries(ids), stopping)
    const page = await endpoints.page(scannedTo, scanPage)
    scannedTo = page.length < scanPage ? '' : (page.at(-1)?._id ?? '')
    if (scannedTo === '') isHurried = false
    await compare(page, stopping)
    await lookForEvents()
    if (isHurried || wanted.size > 0) return 0
  }

  function onNotification({ ids, ends, leaving: gone }: Notification): void {
    for (const instance of gone) leaving.add(instance)
    for (const id of ids) {
      const running = runs.get(id)
      if (running !== undefined) running.notify()
      else wanted.add(id)
    }
    noteEnds(ends)
    if (wanted.size > 0 && isAlive()) scan.wake()
  }

  const beats = startPoll({
    ...{ event: 'worker.beat-failed', level: 'warn', everyMs: beatEveryMs },
    work: beat,
    logger,
  })
  const scan = startPoll({
    ...{ event: 'worker.scan-failed', level: 'warn', everyMs: scanEveryMs },
    work: scanOnce,
    logger,
  })
  const successes = startPoll({
    ...{ event: 'successes.not-noted', everyMs: recordSuccessesEveryMs },
    work: () => recordSuccesses.flush(),
    logger,
  })
  const endListening = listen(onNotification)

  return {
    async stop() {
      endListening()
      await scan.stop()
      const self = instances.current()
      if (self !== null) notifyWorkers([], [], [self])
      for (const runner of runs.values()) runner.stop()
      const left = Promise.all([...runs.values()].map((runner) => runner.done))
      await Promise.race([left, delay(stopWithinMs, undefined, { ref: false })])
      for (const runner of runs.values()) runner.abandon()
      if (runs.size > 0) logger.warn({ endpoints: runs.size }, 'worker.attempts-abandoned')
      await Promise.all([beats.stop(), successes.stop()])
      await recordSuccesses.flush()
      await instances.leave(nothingLeft).catch((err: unknown) => logger.warn({ err }, 'worker.not-retired'))
    },
    onRecorded({ recorded, known, read }) {
      tail.put(recorded)
      for (const endpoint of read.endpoints) runs.get(endpoint._id)?.see(endpoint, read.atMs)
      const ends = endsOf([...recorded, ...known.values()])
      noteEnds(ends)
      notifyWorkers([], ends)
    },
    untaken: () => [...untaken.values()],
    lateness: (now) => [...runs.values()].map((runner) => runner.lateness(now)),
  }
}
