import type { Scope } from '@pitboss/contracts/caller'
import {
  seriesDaysMax,
  seriesPointsMax,
  type SeriesStep,
  seriesSteps,
} from '@pitboss/contracts/objects/series'
import { invalidField } from '@pitboss/errors/service-error'
import type { Clock } from '@pitboss/runtime/clock'
import type { Counters, FiguresStore } from './figures-store.ts'

const dayMs = 24 * 3600 * 1000
/** Points of the step that is chosen when the query names none. */
const pointsWanted = 300

export type SeriesQuery = {
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly step_s?: SeriesStep | undefined
}

type SeriesWindow = { readonly from: Date; readonly to: Date; readonly stepS: SeriesStep }

/**
 * The window of a series, widened to whole steps of UTC. Source: docs/contract.md, section 3, "Series".
 * @throws ServiceError VALIDATION_ERROR for an empty window, one of more than 31 days, and too short a step
 */
export function seriesWindow({ from, to, step_s: asked }: SeriesQuery, now: Date): SeriesWindow {
  const end = to === undefined ? now : new Date(to)
  const begin = from === undefined ? new Date(end.getTime() - dayMs) : new Date(from)
  const lengthMs = end.getTime() - begin.getTime()
  if (lengthMs <= 0) throw invalidField('from', 'must be before to')
  if (lengthMs > seriesDaysMax * dayMs)
    throw invalidField('from', `must be at most ${seriesDaysMax} days before to`)
  const longest = 86_400
  const stepS = asked ?? seriesSteps.find((step) => lengthMs / (step * 1000) <= pointsWanted) ?? longest
  if (lengthMs / (stepS * 1000) > seriesPointsMax) {
    throw invalidField('step_s', `must be longer: a series has at most ${seriesPointsMax} points`)
  }
  const stepMs = stepS * 1000
  return {
    from: new Date(Math.floor(begin.getTime() / stepMs) * stepMs),
    to: new Date(Math.ceil(end.getTime() / stepMs) * stepMs),
    stepS,
  }
}

/** Reads a series. Points without a fact are left out; what is after `complete_until` may still rise. */
export async function readSeries<Point>({
  figures,
  clock,
  target: { scope, subject },
  query,
  pointOf,
}: {
  figures: Pick<FiguresStore, 'read' | 'finalUntil'>
  clock: Clock
  target: { scope: Scope; subject: string }
  query: SeriesQuery
  pointOf: (at: Date, minutes: readonly Counters[]) => Point
}) {
  const { from, to, stepS } = seriesWindow(query, clock.now())
  // First, so that nothing is called complete that was read before it was.
  const final = await figures.finalUntil()
  const minutes = await figures.read(scope, subject, from, to)
  const stepMs = stepS * 1000
  const byStep = Map.groupBy(minutes, ({ at }) => Math.floor(at.getTime() / stepMs) * stepMs)
  const points = [...byStep].map(([at, members]) =>
    pointOf(
      new Date(at),
      members.map(({ counters }) => counters),
    ),
  )
  const completeUntil = final === null || final < from ? from : final > to ? to : final
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    step_s: stepS,
    complete_until: completeUntil.toISOString(),
    points,
  }
}
