import { type Lane, planClaims, replaySlots, type Turns } from './claim-plan.ts'
import { type EndpointHealth, inFlightMax } from './endpoint-health.ts'

type Waiting = { readonly dueAt: Date; readonly eventType: string }

/**
 * Chooses the waiting deliveries that may be claimed now. A paused endpoint takes tests alone; an open
 * breaker takes manual retries and one probe.
 * @returns `probe`: the breaker lets a probe through as well; `nextAt`: when there will be more, null for not
 * by the clock alone
 */
export function chooseDue<Item extends Waiting>({
  health,
  waiting,
  inFlight,
  replayInFlight,
  probeInFlight,
  turns,
  now,
}: {
  health: EndpointHealth
  waiting: Readonly<Record<Lane, readonly Item[]>>
  inFlight: number
  replayInFlight: number
  probeInFlight: boolean
  turns: Turns
  now: Date
}): { chosen: Item[]; probe: boolean; nextAt: Date | null; turns: Turns } {
  const { fresh, retry, replay, manual } = waiting
  const dueOf = (lane: readonly Item[]) => lane.filter(({ dueAt }) => dueAt <= now)
  const all = [fresh, retry, replay, manual].flat()
  const nextAt = earliest(all.flatMap(({ dueAt }) => (dueAt > now ? [dueAt] : [])))
  const free = inFlightMax - inFlight
  const dueManual = dueOf(manual)
  if (health.status === 'PAUSED') {
    const tests = dueManual.filter(({ eventType }) => eventType === 'webhook.test')
    return { chosen: tests.slice(0, free), probe: false, nextAt, turns }
  }
  const { probeAt } = health.breaker
  if (probeAt !== null) {
    const chosen = dueManual.slice(0, free)
    if (probeInFlight || all.length === 0) return { chosen, probe: false, nextAt: null, turns }
    if (probeAt > now) return { chosen, probe: false, nextAt: probeAt, turns }
    return { chosen, probe: true, nextAt, turns }
  }
  const plan = planClaims({
    free: Math.min(free, Math.max(0, health.pace.inFlight - inFlight)),
    replayFree: replaySlots(health.pace.inFlight) - replayInFlight,
    due: { fresh: dueOf(fresh), retry: dueOf(retry), replay: dueOf(replay), manual: dueManual },
    turns,
  })
  return { chosen: plan.chosen, probe: false, nextAt, turns: plan.turns }
}

function earliest(instants: readonly Date[]): Date | null {
  return instants.reduce<Date | null>((first, at) => (first === null || at < first ? at : first), null)
}
