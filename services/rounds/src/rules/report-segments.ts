/**
 * Calendar units in which reports are added up, in UTC. Parts of an hour are read from the rounds themselves.
 */
export type Grain = 'month' | 'day' | 'hour'

/** A part of a window: whole units of one grain, or a rest smaller than an hour. Ends are exclusive. */
export type Segment = { readonly grain: Grain | 'raw'; readonly from: Date; readonly to: Date }

const hourMs = 60 * 60 * 1000

/**
 * Cuts a window into whole units, coarse ones inside and finer ones at its ends: a year is a dozen months and
 * a few dozen days and hours. Never throws.
 * @param grains coarse to fine
 */
export function reportSegments(from: Date, to: Date, grains: readonly Grain[]): Segment[] {
  if (from >= to) return []
  const [grain, ...finer] = grains
  if (grain === undefined) return [{ grain: 'raw', from, to }]
  const first = ceilTo(from, grain)
  const last = floorTo(to, grain)
  if (first >= last) return reportSegments(from, to, finer)
  return [
    ...reportSegments(from, first, finer),
    { grain, from: first, to: last },
    ...reportSegments(last, to, finer),
  ]
}

/** The unit of `at`, as text that sorts by time: "2026-11", "2026-11-20", "2026-11-20T09". */
export function unitOf(at: Date, grain: Grain): string {
  const length = { month: 7, day: 10, hour: 13 }[grain]
  return at.toISOString().slice(0, length)
}

function floorTo(at: Date, grain: Grain): Date {
  if (grain === 'hour') return new Date(Math.floor(at.getTime() / hourMs) * hourMs)
  const day = grain === 'day' ? at.getUTCDate() : 1
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), day))
}

function ceilTo(at: Date, grain: Grain): Date {
  const floor = floorTo(at, grain)
  if (floor.getTime() === at.getTime()) return floor
  if (grain === 'hour') return new Date(floor.getTime() + hourMs)
  if (grain === 'day') return new Date(floor.getTime() + 24 * hourMs)
  return new Date(Date.UTC(floor.getUTCFullYear(), floor.getUTCMonth() + 1, 1))
}
