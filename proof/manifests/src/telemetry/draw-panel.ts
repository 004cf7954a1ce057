import type { Panel } from './panel.ts'

const width = 720
const height = 260
const plot = { left: 64, right: 690, top: 40, bottom: 200 } as const
const colors = ['#1f6fb4', '#e08214', '#2c8a4b', '#8452a8', '#a33c3c', '#4d4d4d']
const gridLines = 4

/** A line of a panel: its name, and points of seconds since the start and value. */
export type Line = { readonly legend: string; readonly points: readonly (readonly [number, number])[] }

/**
 * A panel as SVG: its lines, the limit, and the moment at which the alert tells somebody. `lastS` is the end
 * of the drawn time in seconds.
 */
export function drawPanel({
  panel: { title, unit, limit },
  alert,
  lines,
  lastS,
  toldS,
}: {
  panel: Pick<Panel, 'title' | 'unit' | 'limit'>
  alert: string
  lines: readonly Line[]
  lastS: number
  toldS: number
}): string {
  const values = lines.flatMap(({ points }) => points.map(([, value]) => value))
  const top = niceTop(Math.max(...values, limit ?? 0, 0))
  const x = (s: number) => round(plot.left + ((plot.right - plot.left) * s) / lastS)
  const y = (value: number) => round(plot.bottom - ((plot.bottom - plot.top) * value) / top)
  const marks = Array.from({ length: gridLines + 1 }, (_, index) => (top * index) / gridLines)
  const times = Array.from({ length: gridLines + 1 }, (_, index) => (lastS * index) / gridLines)
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<title>${escaped(`${title}; ${alert} fires`)}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    text(plot.left, 22, title, 'font-size="14" font-weight="bold"'),
    ...marks.flatMap((value) => [
      `<path d="M${plot.left} ${y(value)}H${plot.right}" stroke="#dddddd"/>`,
      text(plot.left - 6, y(value) + 4, shown(value, unit), 'text-anchor="end" fill="#555555"'),
    ]),
    ...times.map((s) => text(x(s), plot.bottom + 18, shownTime(s), 'text-anchor="middle" fill="#555555"')),
    ...lines.map(
      ({ points }, index) =>
        `<path d="${pathOf(points, x, y)}" fill="none" stroke="${colorOf(index)}" stroke-width="2"/>`,
    ),
    ...(limit === undefined
      ? []
      : [`<path d="M${plot.left} ${y(limit)}H${plot.right}" stroke="#c62828" stroke-dasharray="6 4"/>`]),
    `<path d="M${x(toldS)} ${plot.top}V${plot.bottom}" stroke="#c62828"/>`,
    toldText(x(toldS), `${alert} fires`),
    ...lines.flatMap(({ legend }, index) => [
      `<rect x="${plot.left + index * 150}" y="${height - 24}" width="12" height="4" fill="${colorOf(index)}"/>`,
      text(plot.left + 18 + index * 150, height - 18, legend),
    ]),
    '</svg>',
  ].join('\n')}\n`
}

function pathOf(points: Line['points'], x: (s: number) => number, y: (value: number) => number): string {
  return points.map(([s, value], index) => `${index === 0 ? 'M' : 'L'}${x(s)} ${y(value)}`).join('')
}

/** Words beside the moment of the alert, on the side that has room for them. */
function toldText(x: number, words: string): string {
  const isLeft = x > (plot.left + plot.right) / 2
  const attributes = `text-anchor="${isLeft ? 'end' : 'start'}" fill="#c62828"`
  return text(isLeft ? x - 6 : x + 6, plot.top + 12, words, attributes)
}

function colorOf(index: number): string {
  return colors[index % colors.length] ?? '#000000'
}

/** The least of 1, 2, 4, 5 and 10 times a power of ten above the value. */
function niceTop(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 4, 5, 10].find((factor) => factor * power >= value * 1.05) ?? 20) * power
}

function shown(value: number, unit: Panel['unit']): string {
  const short = (number: number) => String(Number(number.toPrecision(3)))
  if (unit === 'percentunit') return `${short(value * 100)} %`
  if (unit === 'bytes') return `${short(value / 2 ** 20)} MiB`
  if (unit === 's') return `${short(value)} s`
  return unit === 'short' ? short(value) : `${short(value)}/s`
}

function shownTime(s: number): string {
  return s >= 10 * 3600 ? `${Math.round(s / 3600)} h` : `${Math.round(s / 60)} min`
}

function text(x: number, y: number, words: string, attributes = ''): string {
  return `<text x="${round(x)}" y="${round(y)}"${attributes === '' ? '' : ` ${attributes}`}>${escaped(words)}</text>`
}

function escaped(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
