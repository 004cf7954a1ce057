import type { History } from './watch-rounds.ts'

const panelsMax = 6
const width = 720
const panel = { height: 190, left: 64, right: 24, top: 40, bottom: 34 }
const percent = (share: number, decimals = 1) => `${(share * 100).toFixed(decimals)} %`

/**
 * The bets with most trials as a picture: the band of returns that are not ruled out, the return that was seen, and
 * the return of the game as a line. A wide band holds whatever is seen; it narrows with play.
 */
export function drawReturns(histories: readonly History[]): string {
  const shown = histories.filter((history) => (history.at(-1)?.rtp ?? null) !== null).slice(0, panelsMax)
  const height = Math.max(1, shown.length) * panel.height
  const panels = shown.map(
    (history, at) => `<g transform="translate(0 ${at * panel.height})">${drawPanel(history)}</g>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12">
<rect width="${width}" height="${height}" fill="#ffffff"/>
${panels.join('\n')}
</svg>
`
}

function drawPanel(history: History): string {
  const last = history.at(-1)
  const points = history.filter(({ seen }) => seen !== null)
  const rtp = last?.rtp ?? null
  if (last === undefined || rtp === null) return ''
  const half = Math.max(0.02, ...points.map(({ seen }) => Math.abs((seen ?? rtp) - rtp) * 1.2))
  const [least, most] = [rtp - Math.min(half, rtp), rtp + half]
  const [from, to] = [Math.log(points[0]?.trials ?? 1), Math.log(last.trials + 1)]
  const x = (trials: number) =>
    panel.left + ((Math.log(trials) - from) / Math.max(to - from, 1e-9)) * (width - panel.left - panel.right)
  const y = (share: number | null) => {
    const within = Math.min(Math.max(share ?? rtp, least), most)
    return panel.top + ((most - within) / (most - least)) * (panel.height - panel.top - panel.bottom)
  }
  const place = (trials: number, share: number | null) => `${x(trials).toFixed(1)},${y(share).toFixed(1)}`
  const band = [
    ...points.map(({ trials, high }) => place(trials, high)),
    ...points.toReversed().map(({ trials, low }) => place(trials, low)),
  ].join(' ')
  const line = points.map(({ trials, seen }) => place(trials, seen)).join(' ')
  const foot = panel.height - panel.bottom
  const verdict =
    last.alarmedAt === null
      ? `seen ${percent(last.seen ?? 0, 2)}, ${percent(last.low ?? 0, 2)} to ${percent(last.high ?? 0, 2)} not ruled out`
      : `ALARM after ${last.alarmedAt} trials: seen ${percent(last.seen ?? 0, 2)}`
  return `<text x="${panel.left}" y="16" font-weight="600">${last.game}, ${last.shape}: ${last.trials} trials</text>
<text x="${panel.left}" y="32" fill="${last.alarmedAt === null ? '#444444' : '#b00020'}">${verdict}; an error of 1 point shows within about ${last.pointNoticedWithin}</text>
<polygon points="${band}" fill="#0b63a5" fill-opacity="0.16"/>
<line x1="${panel.left}" x2="${width - panel.right}" y1="${y(rtp)}" y2="${y(rtp)}" stroke="#444444" stroke-dasharray="4 4"/>
<polyline points="${line}" fill="none" stroke="#0b63a5" stroke-width="2"/>
<text x="8" y="${y(rtp) + 4}">${percent(rtp)}</text>
<text x="8" y="${y(most) + 8}" fill="#666666">${percent(most)}</text>
<text x="8" y="${y(least)}" fill="#666666">${percent(least)}</text>
<text x="${panel.left}" y="${foot + 18}" fill="#666666">${points[0]?.trials ?? 0} trials</text>
<text x="${width - panel.right}" y="${foot + 18}" text-anchor="end" fill="#666666">${last.trials} trials</text>`
}
