import { setTimeout as delay } from 'node:timers/promises'
import type { Bus } from '@pitboss/bus/connect-bus'
import type { Logger } from 'pino'
import { type EndpointRunner, type RunnerDeps, runEndpoint } from './endpoint-runner.ts'
import { createSuccessNotes } from '../actions/success-notes.ts'
import { readWake, wakeSubject } from '../clients/wake.ts'

/** How soon a worker without a fresh heartbeat looks again, in milliseconds. */
const notAliveMs = 50
const pollEveryMs = 500
const beatEveryMs = 1000
/** How long the endpoints of a dead worker wait for another. */
const workerTtlMs = 4000
/** Attempts get this long to end when the process is told to stop, of the ten seconds that it has. */
const stopWithinMs = 7000
const runnersMax = 5000
const leasesTogether = 100
const scanMax = 500
const candidatesMax = 10_000
/** Wake-ups of an endpoint that another worker was found to hold are left to that worker; the poll finds what nobody holds. */
const foreignForMs = 5000
/** How long an idle endpoint stays with its worker, ready for the next event; the shorter one when the worker has many. */
const lingerMs = 10_000
const lingerCrowdedMs = 1000
const runnersCrowded = 1000
const ownLeasesEveryPolls = 20

export type Dispatcher = {
  /** Takes no more endpoints, lets attempts in flight end, gives all leases back. */
  stop(): Promise<void>
  running(): number
}

/**
 * Finds endpoints that have something to do, leases them among the replicas and runs them. Leases stand as long as the worker's one
 * heartbeat is fresh; a worker that can't renew it drops all that it runs.
 */
export function startDispatcher(
  deps: Omit<RunnerDeps, 'successes' | 'lingerMs'> & { bus: Bus; workerId: string; logger: Logger },
): Dispatcher {
  const { endpoints, deliveries, clock, bus, workerId, logger } = deps
  const successes = createSuccessNotes({ endpoints, logger })
  const runners = new Map<string, EndpointRunner>()
  const foreign = new Map<string, number>()
  const candidates = new Set<string>()
  const stopping = new AbortController()
  const pause = (ms: number, signal: AbortSignal) => delay(ms, undefined, { signal }).catch(() => undefined)
  let alive: readonly string[] = []
  let lastBeatAtMs = 0
  let woken = new AbortController()

  const subscription = bus.subscribe(wakeSubject, ({ data }) => {
    const { ids, fresh } = readWake(data)
    for (const id of ids) {
      const runner = runners.get(id)
      if (runner === undefined) name(id)
      else runner.ring()
    }
    for (const [id, made] of Map.groupBy(fresh, ({ webhookId }) => webhookId)) {
      const runner = runners.get(id)
      if (runner === undefined) name(id)
      else runner.offer(made)
    }
    if (candidates.size > 0) woken.abort()
  })

  function name(id: string): void {
    if (candidates.size < candidatesMax && (foreign.get(id) ?? 0) <= performance.now()) candidates.add(id)
  }

  async function beat(): Promise<void> {
    const now = clock.now()
    const startedAtMs = performance.now()
    await endpoints.beat({ _id: workerId, aliveUntil: new Date(now.getTime() + workerTtlMs) })
    lastBeatAtMs = startedAtMs
    alive = (await endpoints.aliveWorkers(now)).filter((id) => id !== workerId)
  }

  const beatLoop = async () => {
    while (!stopping.signal.aborted) {
      await beat().catch((err: unknown) => logger.warn({ err }, 'worker.beat-failed'))
      if (performance.now() - lastBeatAtMs > workerTtlMs && runners.size > 0) {
        logger.error({ endpoints: runners.size }, 'worker.leases-lost')
        for (const runner of runners.values()) runner.stop()
      }
      await pause(beatEveryMs, stopping.signal)
    }
  }

  const runnerDeps = {
    ...deps,
    successes,
    lingerMs: () => (runners.size > runnersCrowded ? lingerCrowdedMs : lingerMs),
  }

  /** Takes the leases of those that are free, and reads what their work begins with, in a few round trips for all of them. */
  async function take(ids: readonly string[]): Promise<void> {
    // What was named while its lease was being taken may not be in what was read with it.
    for (const id of ids) runners.get(id)?.ring()
    const room = Math.max(0, runnersMax - runners.size)
    const wanted = ids.filter((id) => !runners.has(id)).slice(0, room)
    if (wanted.length === 0 || stopping.signal.aborted) return
    const leased = await endpoints.lease(wanted, workerId, alive)
    const taken = leased.map(({ _id }) => _id)
    const mine = new Set(taken)
    for (const id of wanted) if (!mine.has(id)) foreign.set(id, performance.now() + foreignForMs)
    // Read after the lease: what an older holder wrote is seen, what it still writes misses its fence.
    const [{ claimed, held }, upcoming] = await Promise.all([
      deliveries.unsettledOf(taken),
      deliveries.upcomingOf(taken),
    ])
    for (const endpoint of leased) {
      const { _id: id } = endpoint
      const look = { upcoming: upcoming.get(id) ?? null, held: held.has(id), claimed: claimed.has(id) }
      const runner = runEndpoint(runnerDeps, endpoint, look)
      runners.set(id, runner)
      void runner.done.then(() => runners.delete(id))
    }
  }

  /** An endpoint that waits here for more work may have got it by a wake-up that was lost. */
  async function remindIdle(): Promise<void> {
    const idle = [...runners].filter(([, runner]) => runner.idle())
    const wakes = await endpoints.wakesOf(idle.map(([id]) => id))
    for (const [id, runner] of idle) runner.remind(wakes.get(id) ?? 0)
  }

  const scanLoop = async () => {
    let polledAtMs = 0
    let polls = 0
    while (!stopping.signal.aborted) {
      const fresh = performance.now() - lastBeatAtMs < workerTtlMs
      if (fresh) {
        const named = [...candidates]
        candidates.clear()
        try {
          const nowMs = performance.now()
          if (nowMs - polledAtMs >= pollEveryMs) {
            polledAtMs = nowMs
            for (const [id, untilMs] of foreign) if (untilMs <= nowMs) foreign.delete(id)
            polls += 1
            // Now and then also what bears this worker's name: a lease that could not be given back is stuck otherwise.
            const held = polls % ownLeasesEveryPolls === 0 ? alive : [...alive, workerId]
            named.push(...(await endpoints.due(clock.now(), held, scanMax)))
            await remindIdle()
          }
          const ids = [...new Set(named)]
          for (let start = 0; start < ids.length; start += leasesTogether) {
            await take(ids.slice(start, start + leasesTogether))
          }
        } catch (err) {
          logger.warn({ err }, 'worker.scan-failed')
        }
      }
      // A worker that is not alive yet takes nothing, however often it is woken: it must let its own heartbeat through.
      if (!fresh) {
        await pause(notAliveMs, stopping.signal)
        continue
      }
      woken = new AbortController()
      if (candidates.size === 0) await pause(pollEveryMs, AbortSignal.any([stopping.signal, woken.signal]))
    }
  }

  const loops = Promise.all([beatLoop(), scanLoop()])

  return {
    async stop() {
      stopping.abort()
      subscription.unsubscribe()
      await loops
      for (const runner of runners.values()) runner.stop()
      const left = Promise.all([...runners.values()].map((runner) => runner.done))
      await Promise.race([left, delay(stopWithinMs, undefined, { ref: false })])
      for (const runner of runners.values()) runner.abandon()
      if (runners.size > 0) logger.warn({ endpoints: runners.size }, 'worker.attempts-abandoned')
      await successes.stop()
      await endpoints.retire(workerId).catch((err: unknown) => logger.warn({ err }, 'worker.not-retired'))
    },
    running: () => runners.size,
  }
}
