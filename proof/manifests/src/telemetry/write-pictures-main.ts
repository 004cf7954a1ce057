import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runProgram } from '@pitboss/engines/fetch/run-program'
import { stringify } from 'yaml'
import { findProgramOf } from '../find-tool.ts'
import { type Story, stories } from './alert-stories.ts'
import { panelOf } from './boards.ts'
import { drawPanel, type Line } from './draw-panel.ts'
import { runPrometheus } from './run-prometheus.ts'
import { openMetricsOf, secondsOf } from './story-samples.ts'
import { componentRules, rootFolder } from './telemetry-files.ts'

/**
 * `npm run handbook-pictures`: draws for each alert the panel that its page shows, as Prometheus answers its
 * queries while the first story of the alert happens.
 */
const startS = Date.UTC(2026, 0, 5) / 1000
/** The drawn time goes on a little after the alert. */
const after = 1.2

const rules = componentRules()
const drawn = [
  ...new Map(
    stories
      .filter(({ fires }) => fires)
      .toReversed()
      .map((story) => [story.alert, story]),
  ),
]
const namespaceOf = (index: number) => `story-${index}`
const folder = mkdtempSync(join(tmpdir(), 'pitboss-pictures-'))
try {
  const samples = drawn.flatMap(([, { series, every }], index) => {
    const own = Object.entries(series).map(([name, values]) => [placed(name, index), values])
    return openMetricsOf(Object.fromEntries(own), { startS, everyS: secondsOf(every) })
  })
  writeFileSync(join(folder, 'samples.txt'), `${samples.join('\n')}\n# EOF\n`)
  writeFileSync(join(folder, 'prometheus.yaml'), stringify({ scrape_configs: [] }))
  const blocks = [
    'tsdb',
    'create-blocks-from',
    'openmetrics',
    join(folder, 'samples.txt'),
    join(folder, 'data'),
  ]
  await runProgram(await findProgramOf('promtool'), blocks)
  const prometheus = await runPrometheus(folder)
  try {
    const images = `${rootFolder}docs/handbook/images`
    mkdirSync(images, { recursive: true })
    for (const [index, [alert, story]] of drawn.entries())
      writeFileSync(join(images, `${alert}.svg`), await draw(alert, story, index))
  } finally {
    await prometheus.stop()
  }

  async function draw(alert: string, { every, at }: Story, index: number): Promise<string> {
    const everyS = secondsOf(every)
    const lastS = Math.ceil((secondsOf(at) * after) / everyS) * everyS
    const window = { startS, endS: startS + lastS, stepS: everyS }
    const panel = panelOf(alert)
    const lines: Line[] = []
    for (const { expr, legend } of panel.queries)
      for (const { metric, values = [] } of await prometheus.queryRange(asked(expr, index), window)) {
        const points = values.map(([s, value]): [number, number] => [s - startS, Number(value)])
        const seen = points.filter(([, value]) => Number.isFinite(value))
        if (seen.length > 1) lines.push({ legend: nameOf(legend, metric), points: seen })
      }
    return drawPanel({ panel, alert, lines, lastS, toldS: await toldAt(alert, index, window) })
  }

  /** Seconds from the start until the alert has been true for long enough. */
  async function toldAt(
    alert: string,
    index: number,
    window: { startS: number; endS: number; stepS: number },
  ): Promise<number> {
    const rule = rules.find((one) => one.alert === alert)
    if (rule === undefined) throw new Error(`there is no alert ${alert}`)
    const found = await prometheus.queryRange(inStory(rule.expr, index), window)
    const held = rule.for === undefined ? 0 : secondsOf(rule.for)
    const times = new Set(found.flatMap(({ values = [] }) => values.map(([s]) => s)))
    for (const s of times) {
      const needed = Array.from({ length: held / window.stepS + 1 }, (_, step) => s + step * window.stepS)
      if (needed.every((one) => times.has(one))) return s + held - startS
    }
    throw new Error(`${alert} never fires in its story`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function placed(series: string, index: number): string {
  return series.replace('namespace="pitboss"', `namespace="${namespaceOf(index)}"`)
}

/** A query of a board over the series of one story alone. */
function asked(expr: string, index: number): string {
  return inStory(expr, index).replaceAll('$namespace', namespaceOf(index))
}

/** An expression over the series of one story alone, with recorded shares in full. */
function inStory(expr: string, index: number): string {
  const own = `namespace="${namespaceOf(index)}"`
  return inFull(expr).replaceAll(
    /\b((?:pitboss_|nodejs_|up\b)\w*)(\{)?/g,
    (_, name: string, open?: string) => (open === undefined ? `${name}{${own}}` : `${name}{${own},`),
  )
}

function inFull(expr: string): string {
  return rules.reduce(
    (text, { record, expr: behind }) =>
      record === undefined
        ? text
        : text.replaceAll(new RegExp(`${record}\\b(?:\\{[^}]*\\})?`, 'g'), () => `(${behind})`),
    expr,
  )
}

function nameOf(legend: string, metric: Readonly<Record<string, string>>): string {
  return legend.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? '')
}
