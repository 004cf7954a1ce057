import { localText } from '../time/zone-time.ts'
import type { Step } from './steps-of-round.ts'

/** Pixels of a drawing. A pause that would be longer than `pauseMax` is cut and says how long it was. */
type Scale = {
  /** Of the first lane and of what is right of the last one. */
  readonly left: number
  readonly right: number
  readonly lane: number
  readonly top: number
  readonly rowMin: number
  readonly pauseMax: number
  readonly msPerPx: number
  readonly textMax: number
  /** Clock and words have a line of their own above each arrow; else the clock is left of the lanes. */
  readonly ownLine: boolean
}
export const scale: Scale = {
  ...{ left: 136, right: 94, lane: 188, top: 54, rowMin: 30, pauseMax: 110, msPerPx: 10 },
  ...{ textMax: 29, ownLine: false },
}
/** For narrow windows. */
export const narrowScale: Scale = {
  ...{ left: 26, right: 32, lane: 62, top: 34, rowMin: 46, pauseMax: 110, msPerPx: 10 },
  ...{ textMax: 34, ownLine: true },
}

export type Row = Step & {
  readonly x1: number
  readonly x2: number
  readonly y: number
  /** The clock of the row, where it differs from that of the row above. */
  readonly clock: string | null
  /** The pause above the row that was cut, in milliseconds. */
  readonly cutMs: number | null
}

/** Where each step stands: time runs down at 10 ms a pixel, in rows of a least height. */
export function layOut(
  steps: readonly Step[],
  zone = 'UTC',
  size = scale,
): { rows: Row[]; width: number; height: number } {
  const rows: Row[] = []
  let y = size.top
  for (const [at, step] of steps.entries()) {
    const before = steps[at - 1]
    const pauseMs = before === undefined ? 0 : step.atMs - before.atMs
    const px = pauseMs / size.msPerPx
    y += Math.max(size.rowMin, Math.min(px, size.pauseMax))
    const clock = clockOf(step.atMs, zone)
    rows.push({
      ...step,
      x1: laneX(step.from, size),
      x2: laneX(step.to, size),
      y,
      clock: before !== undefined && clockOf(before.atMs, zone) === clock ? null : clock,
      cutMs: px > size.pauseMax ? pauseMs : null,
    })
  }
  return { rows, width: laneX(4, size) + size.right, height: y + size.rowMin }
}

/** The middle of a lane. */
export function laneX(lane: number, { left, lane: width } = scale): number {
  return left + lane * width
}

/** The time of day to the millisecond. */
function clockOf(atMs: number, zone: string): string {
  const iso = new Date(atMs).toISOString()
  return localText(iso, zone).slice(11) + iso.slice(19, 23)
}

/** A length of time in its largest units: `3 min 12 s`. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${ms} ms`
  const s = Math.round(ms / 1000)
  const parts = [
    [Math.floor(s / 3600), 'h'],
    [Math.floor(s / 60) % 60, 'min'],
    [s % 60, 's'],
  ] as const
  return parts
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ')
}
