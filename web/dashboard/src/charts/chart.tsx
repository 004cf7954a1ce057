import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'

export type ChartLine = {
  readonly label: string
  /** A custom property of the styles, such as `--won`; it follows light and dark. */
  readonly color: `--${string}`
  /** One value for each time; null for none. */
  readonly values: readonly (number | null)[]
}

export type ChartProps = {
  /** Seconds since 1970, rising. */
  readonly times: readonly number[]
  readonly lines: readonly ChartLine[]
  /** Bars for counts, which stand on each other, the first on top; lines for times. */
  readonly kind: 'bars' | 'lines'
  readonly unit: string
}

const heightPx = 220
const axisPx = 56
const tickPx = 64
const twoDaysS = 172_800

/**
 * One drawing over time on a canvas, for eyes alone: whoever shows it shows the same in words or as a table.
 * It is drawn anew when its place or the colours of the system change.
 */
export default function Chart(props: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const { times, lines, kind, unit } = props
  useEffect(() => {
    const around = place.current
    if (around === null) return undefined
    let plot: uPlot | null = null
    const draw = () => {
      plot?.destroy()
      plot = new uPlot(
        optionsOf(around, { times, lines, kind, unit }),
        dataOf({ times, lines, kind }),
        around,
      )
    }
    const colours = matchMedia('(prefers-color-scheme: dark)')
    const sized = new ResizeObserver(() => plot?.setSize({ width: around.clientWidth, height: heightPx }))
    draw()
    sized.observe(around)
    colours.addEventListener('change', draw)
    return () => {
      sized.disconnect()
      colours.removeEventListener('change', draw)
      plot?.destroy()
    }
  }, [times, lines, kind, unit])
  return <div className="chart" ref={place} aria-hidden />
}

function dataOf({ times, lines, kind }: Pick<ChartProps, 'times' | 'lines' | 'kind'>): uPlot.AlignedData {
  const heights = lines.map(({ values }, at) =>
    kind === 'lines'
      ? [...values]
      : values.map((_, time) => lines.slice(at).reduce((sum, one) => sum + (one.values[time] ?? 0), 0)),
  )
  return [[...times], ...heights]
}

function optionsOf(around: HTMLElement, { times, lines, kind, unit }: ChartProps): uPlot.Options {
  const colour = (name: string) => colourOf(around, name)
  const axis = {
    stroke: colour('--quiet'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { stroke: colour('--line'), width: 1 },
    font: '12px system-ui, sans-serif',
  }
  const [first = 0, second = 1] = times
  const end = (times.at(-1) ?? 0) + second - first
  const bars = kind === 'bars' ? uPlot.paths.bars?.({ size: [0.9, 40, 2], align: 1 }) : undefined
  return {
    width: around.clientWidth,
    height: heightPx,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    legend: { live: true },
    cursor: { drag: { x: false, y: false }, points: { show: kind === 'lines' } },
    scales: {
      x: { range: () => [first, end] },
      y: { range: (_plot, _least, most) => [0, Math.max(1, most * 1.1)] },
    },
    axes: [
      { ...axis, space: tickPx, values: (_plot, ticks) => ticks.map((tick) => tickText(tick, end - first)) },
      { ...axis, size: axisPx, values: (_plot, ticks) => ticks.map((tick) => short(tick)) },
    ],
    series: [
      { label: 'UTC', value: (_plot, seconds) => (seconds === null ? '–' : timeText(seconds)) },
      ...lines.map((line) => ({
        label: line.label,
        stroke: colour(line.color),
        fill: kind === 'bars' ? colour(line.color) : 'transparent',
        width: kind === 'bars' ? 0 : 2,
        spanGaps: false,
        points: { show: kind === 'lines', size: 5 },
        value: (_plot: uPlot, _height: number | null, _series: number, at: number | null) =>
          textOf(at === null ? null : line.values[at], unit),
        ...(bars === undefined ? {} : { paths: bars }),
      })),
    ],
  }
}

/** The colour behind a custom property as a canvas takes it, which knows no `light-dark()`. */
function colourOf(around: HTMLElement, name: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${name})`
  around.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const short = (value: number) => compact.format(value)
const textOf = (value: number | null | undefined, unit: string) =>
  value === null || value === undefined ? '–' : `${short(value)}${unit}`
/** A time of the axis: its day at midnight and in long windows, else its hour. */
function tickText(seconds: number, lengthS: number): string {
  const text = timeText(seconds)
  const hour = text.slice(11)
  return lengthS > twoDaysS || hour === '00:00' ? text.slice(5, 10) : hour
}
const timeText = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ')
