import { setTimeout as delay } from 'node:timers/promises'
import type { Product } from '@pitboss/bench/harness/start-product'
import type { Absence } from '../check/absences.ts'
import { type Disturber, disturbRepeatedly, rest } from './disturber.ts'
import { findEngines, findServices, type Target } from './find-processes.ts'

const betweenMs = { least: 700, most: 2600 }
/** Engines need a moment between their deaths, else nothing but restarts would happen. */
const engineRestMs = 9000
/** An engine's death this long before a kill has no part in how soon the service is back. */
const engineBackMs = 5000
const pauseMs = { least: 200, most: 5000, engineMost: 1800, favouriteLeast: 2500 }
/**
 * Pauses beyond the timers that others have for a process that stands still: a caller's patience, the lease
 * of a call, the sweeper's grace, the wait of the stream for an acknowledgement, a stake's envelope.
 */
const longPausesMs = [7000, 11_000, 20_000, 45_000]
/** Now and then a process stands still for minutes: nothing that it remembers is true then. */
const longestPause = { ms: 150_000, share: 0.06 }
/** From here on a pause may be meant for one replica: its siblings are left alone meanwhile. */
const loneFromMs = 11_000
const backWithinMs = 60_000
/**
 * So many killed services may be on their way back at once: beyond, a slow machine would do nothing but start
 * processes.
 */
const awayMax = 2
const services = ['gateway', 'auth', 'rounds', 'wallet-bridge', 'webhooks']

export type Torment = {
  /** Milliseconds from a kill to the same replica's next process answering, while the engines were up. */
  backMs: number[]
  absences: Absence[]
}

/** Kills and pauses processes until the run ends; a paused one goes on then at the latest. */
export async function disturbProcesses({
  product,
  random,
  counts,
  stopping,
  note,
  favourite,
}: Disturber & {
  product: Product
  /**
   * Half of the faults are this one's: a service is killed, an engine stands still for longer than a publish
   * waits.
   */
  favourite?: string | undefined
}): Promise<Torment> {
  const torment: Torment = { backMs: [], absences: [] }
  const underWay: Promise<void>[] = []
  let engineHurtAtMs = 0
  let away = 0
  /** Services of which one replica alone stands still. */
  const lone = new Set<string>()

  /** Notes that the replica is absent until `over`. */
  const absent = async ({ name, replica }: Target, over: Promise<void>) => {
    const fromMs = Date.now()
    await over
    torment.absences.push({ service: name, replica, fromMs, untilMs: Date.now() })
  }
  const kill = (target: Target, isService: boolean) => {
    if (!signal(target.pid, 'SIGKILL')) return
    note(`SIGKILL ${labelOf(target)} (${target.pid})`)
    counts.add(`kill ${target.name}`)
    if (!isService) return
    away++
    underWay.push(absent(target, timeReturn(target)).finally(() => away--))
  }
  const pause = (target: Target, ms: number) => {
    if (!signal(target.pid, 'SIGSTOP')) return
    note(`SIGSTOP ${labelOf(target)} (${target.pid}) for ${ms} ms`)
    counts.add(`pause ${target.name}${ms > loneFromMs ? ` for ${ms / 1000} s` : ''}`)
    const over = rest(ms, stopping)
    underWay.push(absent(target, over).then(() => void signal(target.pid, 'SIGCONT')))
    if (ms <= loneFromMs || random.chance(0.5)) return
    lone.add(target.name)
    underWay.push(over.then(() => void lone.delete(target.name)))
  }
  const timeReturn = async (target: Target) => {
    const fromMs = performance.now()
    while (performance.now() - fromMs < backWithinMs) {
      const now = product
        .demo()
        .processes.find((one) => one.name === target.name && one.replica === target.replica)
      const url = now?.http_url
      if (
        now?.pid !== null &&
        now?.pid !== target.pid &&
        url !== undefined &&
        (await answers(`${url}/readyz`))
      ) {
        const tookMs = performance.now() - fromMs
        if (engineHurtAtMs < fromMs - engineBackMs) torment.backMs.push(tookMs)
        return
      }
      await delay(50)
    }
    note(`${labelOf(target)} was not back within ${backWithinMs} ms`)
  }

  await disturbRepeatedly({ random, stopping }, betweenMs, () => {
    const running = findServices(product)
    if (favourite !== undefined && random.chance(0.5)) {
      const service = running.find(({ name }) => name === favourite)
      const engine = findEngines(product).find(({ name }) => name === favourite)
      if (service !== undefined) kill(service, true)
      if (engine !== undefined) pause(engine, random.between(pauseMs.favouriteLeast, pauseMs.most))
      return
    }
    const free = running.filter(({ name }) => services.includes(name) && !lone.has(name))
    const pickService = () => random.pick(free)
    const kind = random.next()
    const enginesRested = performance.now() - engineHurtAtMs > engineRestMs
    if (kind < 0.42) {
      if (away < awayMax) kill(pickService(), true)
    } else if (kind < 0.68) {
      const isLong = random.chance(0.3)
      const isLongest = isLong && random.chance(longestPause.share)
      const longMs = isLongest ? longestPause.ms : random.pick(longPausesMs)
      pause(pickService(), isLong ? longMs : random.between(pauseMs.least, pauseMs.most))
    } else if (kind < 0.76) killNamed(running, 'wallet')
    else if (kind < 0.81) killNamed(running, 'receiver')
    else if (enginesRested) {
      const engines = findEngines(product)
      if (engines.length === 0) return
      const engine = random.pick(engines)
      engineHurtAtMs = performance.now()
      // A paused postmaster holds up new connections alone, which is no fault worth the name.
      if (kind < 0.88 && engine.name !== 'postgres')
        pause(engine, random.between(pauseMs.least, pauseMs.engineMost))
      else kill(engine, false)
    }
  })
  await Promise.all(underWay)
  return torment

  function killNamed(running: Target[], name: string): void {
    const target = running.find((one) => one.name === name)
    if (target !== undefined) kill(target, false)
  }
}

function labelOf({ name, replica }: Target): string {
  return replica > 1 ? `${name}-${replica}` : name
}

/** Whether there was such a process. */
function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    process.kill(pid, name)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false
    throw error
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(500) })).ok
  } catch {
    return false
  }
}
