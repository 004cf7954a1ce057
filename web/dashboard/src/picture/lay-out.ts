import { localText } from '../time/zone-time.ts'
import type { Step } from './steps-of-round.ts'

/** Pixels of the drawing. A pause that would be longer than `pauseMax` is cut and says how long it was. */
export const scale = {
  left: 96,
  margin: 40,
  lane: 188,
  top: 54,
  rowMin: 30,
  pauseMax: 110,
  msPerPx: 10,
} as const

export type Row = Step & {
  readonly x1: number
  readonly x2: number
  readonly y: number
  /** The clock of the row, where it differs from that of the row above. */
  readonly clock: string | null
  /** The pause above the row that was cut, in milliseconds. */
  readonly cutMs: number | null
}

/** Where each step stands: time runs down at 10 ms a pixel, in rows of at least 30 pixels. */
export function layOut(steps: readonly Step[], zone = 'UTC'): { rows: Row[]; width: number; height: number } {
  const rows: Row[] = []
  let y: number = scale.top
  for (const [at, step] of steps.entries()) {
    const before = steps[at - 1]
    const pauseMs = before === undefined ? 0 : step.atMs - before.atMs
    const px = pauseMs / scale.msPerPx
    y += Math.max(scale.rowMin, Math.min(px, scale.pauseMax))
    const clock = clockOf(step.atMs, zone)
    rows.push({
      ...step,
      x1: laneX(step.from),
      x2: laneX(step.to),
      y,
      clock: before !== undefined && clockOf(before.atMs, zone) === clock ? null : clock,
      cutMs: px > scale.pauseMax ? pauseMs : null,
    })
  }
  return { rows, width: laneX(4) + scale.lane / 2, height: y + scale.rowMin }
}

/** The middle of a lane. */
export function laneX(lane: number): number {
  return scale.left + scale.margin + lane * scale.lane
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
