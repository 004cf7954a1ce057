import { setTimeout as delay } from 'node:timers/promises'
import { startPoll } from '@pitboss/runtime/poll'
import type { Reserve } from '../actions/create-deliveries.ts'
import type { TakesNone } from '../actions/record-events.ts'
import type { FreshDelivery } from '../actions/endpoint-view.ts'
import type { LateEndpoint } from './lateness-teller.ts'
import { type EndpointRunner, runEndpoint, type RunnerDeps } from './endpoint-runner.ts'

/** A worker without a fresh heartbeat looks again this soon. */
const notAliveMs = 50
const pollEveryMs = 500
const beatEveryMs = 1000
const recordSuccessesEveryMs = 1000
/** How long the endpoints of a dead worker wait for another one. */
const workerTtlMs = 4000
/** Attempts get this long to end when the process is told to stop, of the ten seconds that it has. */
const stopWithinMs = 7000
const runnersMax = 5000
const leasesTogether = 100
const scanMax = 500
const candidatesMax = 10_000
/**
 * Notifications about an endpoint of another worker are ignored this long; the poll finds endpoints of no
 * worker.
 */
const foreignForMs = 5000
/**
 * How long an idle endpoint stays with its worker, ready for the next event; the shorter one when it has
 * many.
 */
const lingerMs = 10_000
const lingerCrowdedMs = 1000
const runnersCrowded = 1000
const ownLeasesEveryPolls = 20

export type Dispatcher = {
  /** Takes no more endpoints, lets attempts in flight end, gives all leases back. */
  stop(): Promise<void>
  running(): number
  /** How late the deliveries of the endpoints are that this worker runs. */
  lateness(now: Date): LateEndpoint[]
  /** Room at the endpoints that this worker runs. */
  readonly reserve: Reserve
  readonly takesNone: TakesNone
}

type Notification = { readonly ids: readonly string[]; readonly fresh: readonly FreshDelivery[] }

/**
 * Finds endpoints that have something to do, leases them among the replicas and runs them. Leases stand as
 * long as the worker's one heartbeat is fresh; a worker that cannot renew it, or whose clock is wrong, drops
 * all that it runs.
 * @param listen subscribes to the notifications of new work; returns the end of it
 */
export function startDispatcher({
  listen,
  clockAgrees,
  ...deps
}: Omit<RunnerDeps, 'lingerMs'> & {
  /** Whether what is due by this machine's clock is due. */
  clockAgrees: () => boolean
  listen: (onNotification: (notification: Notification) => void) => () => void
}): Dispatcher {
  const { leaseEndpoints, recordSuccesses, logger } = deps
  const runners = new Map<string, EndpointRunner>()
  const foreign = new Map<string, number>()
  const candidates = new Set<string>()
  let alive: readonly string[] = []
  /** A worker without any heartbeat yet is not alive, however young its process is. */
  let lastBeatAtMs = Number.NEGATIVE_INFINITY
  let polledAtMs = 0
  let polls = 0
  const isAlive = () => performance.now() - lastBeatAtMs < workerTtlMs

  const runnerDeps = {
    ...deps,
    lingerMs: () => (runners.size > runnersCrowded ? lingerCrowdedMs : lingerMs),
  }

  function onNotification({ ids, fresh }: Notification): void {
    for (const id of ids) {
      const runner = runners.get(id)
      if (runner === undefined) addCandidate(id)
      else runner.notify()
    }
    for (const [id, created] of Map.groupBy(fresh, ({ webhookId }) => webhookId)) {
      const runner = runners.get(id)
      if (runner === undefined) addCandidate(id)
      else runner.offer(created)
    }
    // A worker that is not alive yet is not woken: it takes nothing, and must let its own heartbeat through.
    if (candidates.size > 0 && isAlive()) scan.wake()
  }

  function addCandidate(id: string): void {
    if (candidates.size < candidatesMax && (foreign.get(id) ?? 0) <= performance.now()) candidates.add(id)
  }

  async function beat(): Promise<void> {
    const startedAtMs = performance.now()
    if (!clockAgrees()) {
      // Its heartbeat would tell the others a time until which it lives that never comes, or is over.
      lastBeatAtMs = Number.NEGATIVE_INFINITY
      dropAll('worker.clock-wrong')
      return
    }
    try {
      alive = await leaseEndpoints.beat(workerTtlMs)
      lastBeatAtMs = startedAtMs
    } finally {
      if (performance.now() - lastBeatAtMs > workerTtlMs) dropAll('worker.leases-lost')
    }
  }

  function dropAll(why: string): void {
    if (runners.size === 0) return
    logger.error({ endpoints: runners.size }, why)
    for (const runner of runners.values()) runner.stop()
  }

  /** Takes the leases of those that are free, and runs them. */
  async function take(ids: readonly string[], stopping: AbortSignal): Promise<void> {
    // Work announced while the lease was being taken may be missing in what was read with it.
    for (const id of ids) runners.get(id)?.notify()
    const room = Math.max(0, runnersMax - runners.size)
    const wanted = ids.filter((id) => !runners.has(id)).slice(0, room)
    if (wanted.length === 0 || stopping.aborted) return
    const leased = await leaseEndpoints.take(wanted, alive)
    const taken = new Set(leased.map(({ endpoint }) => endpoint._id))
    for (const id of wanted) if (!taken.has(id)) foreign.set(id, performance.now() + foreignForMs)
    for (const one of leased) {
      const { _id: id } = one.endpoint
      const runner = runEndpoint(runnerDeps, one)
      runners.set(id, runner)
      void runner.done.then(() => runners.delete(id))
    }
  }

  /**
   * Finds work whose notification was lost, at endpoints that this worker does not run and at its idle ones.
   */
  async function pollDatabase(): Promise<string[]> {
    const nowMs = performance.now()
    if (nowMs - polledAtMs < pollEveryMs) return []
    polledAtMs = nowMs
    for (const [id, untilMs] of foreign) if (untilMs <= nowMs) foreign.delete(id)
    polls += 1
    // Now and then also endpoints that this worker holds: else a lease that could not be given back stays for
    // ever.
    const due = await leaseEndpoints.due(alive, { own: polls % ownLeasesEveryPolls === 0, limit: scanMax })
    const idle = [...runners].filter(([, runner]) => runner.idle())
    const workCounts = await leaseEndpoints.workCounts(idle.map(([id]) => id))
    for (const [id, runner] of idle) runner.notifyIfBehind(workCounts.get(id) ?? 0)
    return due
  }

  async function scanOnce(stopping: AbortSignal): Promise<number | void> {
    if (!isAlive()) return notAliveMs
    const announced = [...candidates]
    candidates.clear()
    const ids = [...new Set([...announced, ...(await pollDatabase())])]
    for (let start = 0; start < ids.length; start += leasesTogether) {
      await take(ids.slice(start, start + leasesTogether), stopping)
    }
  }

  const beats = startPoll({
    event: 'worker.beat-failed',
    level: 'warn',
    everyMs: beatEveryMs,
    work: beat,
    logger,
  })
  const scan = startPoll({
    event: 'worker.scan-failed',
    level: 'warn',
    everyMs: pollEveryMs,
    work: scanOnce,
    logger,
  })
  const successes = startPoll({
    event: 'successes.not-noted',
    everyMs: recordSuccessesEveryMs,
    work: () => recordSuccesses.flush(),
    logger,
  })
  const endListening = listen(onNotification)

  return {
    async stop() {
      endListening()
      await Promise.all([beats.stop(), scan.stop()])
      for (const runner of runners.values()) runner.stop()
      const left = Promise.all([...runners.values()].map((runner) => runner.done))
      await Promise.race([left, delay(stopWithinMs, undefined, { ref: false })])
      for (const runner of runners.values()) runner.abandon()
      if (runners.size > 0) logger.warn({ endpoints: runners.size }, 'worker.attempts-abandoned')
      await successes.stop()
      await recordSuccesses.flush()
      await leaseEndpoints.retire().catch((err: unknown) => logger.warn({ err }, 'worker.not-retired'))
    },
    running: () => runners.size,
    takesNone: (webhookId, now) => runners.get(webhookId)?.takesNone(now) ?? null,
    lateness: (now) => [...runners.values()].map((runner) => runner.lateness(now)),
    reserve(fresh, targets, now) {
      if (!isAlive()) return []
      const targetOf = new Map(targets.map((target) => [target._id, target]))
      return [...Map.groupBy(fresh, ({ webhookId }) => webhookId)].flatMap(([webhookId, group]) => {
        const target = targetOf.get(webhookId)
        const reserved = target && runners.get(webhookId)?.reserve(group, target, now)
        return reserved ? [reserved] : []
      })
    },
  }
}
