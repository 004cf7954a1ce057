import type { ReturnView } from './return-watch.ts'

/** The size of a picture and the room around its plane, in its own units. */
export const pictureSize = { width: 720, height: 190, left: 64, right: 24, top: 40, bottom: 34 } as const

/** How a stream stood after so many trials; the last is how it stands. */
export type History = readonly ReturnView[]

/** A stream as `GET /v1/dashboard/returns` and operations tell it; shares are decimal strings. */
export type ToldReturn = {
  readonly game: string
  readonly shape: string
  readonly expected: string | null
  readonly point_noticed_within: number | null
  readonly alarm: { readonly trials: number } | null
  readonly points: readonly ToldPoint[]
} & ToldPoint
type ToldPoint = {
  readonly trials: number
  readonly seen: string | null
  readonly low: string | null
  readonly high: string | null
}

/** The history of a stream that was told, for its picture. */
export function historyOf(told: ToldReturn): History {
  const { game, shape, points, alarm } = told
  const rtp = numberOf(told.expected)
  return [...points, told].map(({ trials, seen, low, high }) => ({
    ...{ game, shape, trials, rtp },
    ...{ seen: numberOf(seen), low: numberOf(low), high: numberOf(high) },
    pointNoticedWithin: told.point_noticed_within,
    alarmedAt: alarm?.trials ?? null,
  }))
}

function numberOf(share: string | null): number | null {
  return share === null ? null : Number(share)
}

/** The places of a picture: corners as SVG takes them, heights, and what the axes say. */
export type ReturnPicture = {
  readonly title: string
  readonly verdict: string
  readonly isAlarm: boolean
  /** The returns that are not ruled out, as corners of a polygon. */
  readonly band: string
  /** The return that was seen, as corners of a line. */
  readonly line: string
  /** Labels of the vertical axis: the return as designed first, then the most and the least. */
  readonly heights: readonly { readonly y: number; readonly text: string }[]
  readonly from: string
  readonly to: string
}

const percent = (share: number, decimals = 1) => `${(share * 100).toFixed(decimals)} %`
const leastHalf = 0.02

/**
 * Lays out a bet's picture: the band of returns that are not ruled out, the return that was seen, and the
 * return of the game. Trials grow to the right by factors. A wide band holds whatever is seen; it narrows
 * with play.
 * @returns null for draws, which have no return, and before the first point
 */
export function layOutReturn(history: History): ReturnPicture | null {
  const last = history.at(-1)
  const points = history.filter(({ seen }) => seen !== null)
  const rtp = last?.rtp ?? null
  if (last === undefined || rtp === null || points.length === 0) return null
  const { width, height, left, right, top, bottom } = pictureSize
  const half = Math.max(leastHalf, ...points.map(({ seen }) => Math.abs((seen ?? rtp) - rtp) * 1.2))
  const [least, most] = [rtp - Math.min(half, rtp), rtp + half]
  const [from, to] = [Math.log(points[0]?.trials ?? 1), Math.log(last.trials + 1)]
  const x = (trials: number) =>
    left + ((Math.log(trials) - from) / Math.max(to - from, 1e-9)) * (width - left - right)
  const y = (share: number | null) => {
    const within = Math.min(Math.max(share ?? rtp, least), most)
    return top + ((most - within) / (most - least)) * (height - top - bottom)
  }
  const place = (trials: number, share: number | null) => `${x(trials).toFixed(1)},${y(share).toFixed(1)}`
  return {
    title: `${last.game}, ${last.shape}: ${trialsText(last.trials)}`,
    verdict: `${verdictOf(last)}; an error of 1 point shows within about ${last.pointNoticedWithin ?? 'endless'}`,
    isAlarm: last.alarmedAt !== null,
    band: [
      ...points.map(({ trials, high }) => place(trials, high)),
      ...points.toReversed().map(({ trials, low }) => place(trials, low)),
    ].join(' '),
    line: points.map(({ trials, seen }) => place(trials, seen)).join(' '),
    heights: [rtp, most, least].map((share) => ({ y: y(share), text: percent(share) })),
    from: trialsText(points[0]?.trials ?? 0),
    to: trialsText(last.trials),
  }
}

const trialsText = (trials: number) => `${trials} ${trials === 1 ? 'trial' : 'trials'}`

function verdictOf({ alarmedAt, seen, low, high }: ReturnView): string {
  return alarmedAt === null
    ? `seen ${percent(seen ?? 0, 2)}, ${percent(low ?? 0, 2)} to ${percent(high ?? 0, 2)} not ruled out`
    : `ALARM after ${trialsText(alarmedAt)}: seen ${percent(seen ?? 0, 2)}`
}
