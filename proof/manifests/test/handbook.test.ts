import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import t from 'tap'
import { rulesOf } from '../src/query-problems.ts'
import { renderOverlay } from '../src/render-folder.ts'
import { panelOf } from '../src/telemetry/boards.ts'
import { drawPanel } from '../src/telemetry/draw-panel.ts'
import { openMetricsOf, secondsOf, valuesOf } from '../src/telemetry/story-samples.ts'
import { rootFolder } from '../src/telemetry/telemetry-files.ts'

const folder = `${rootFolder}docs/handbook`
const alerts = rulesOf(await renderOverlay('production')).filter(({ alert }) => alert !== undefined)
const read = (file: string) => readFileSync(join(folder, file), 'utf8')
const headings = ['Who is hurt', 'The first three commands', 'When to wake whom', 'Then']
const opsSources = globSync(`${rootFolder}tools/ops/src/**/*.ts`).map((file) => readFileSync(file, 'utf8'))

t.test('every alert leads to a page that says what to do, and every page belongs to an alert', async (t) => {
  const pages = globSync('*.md', { cwd: folder }).filter((file) => file !== 'README.md')
  t.strictSame(new Set(pages.map((file) => basename(file, '.md'))), new Set(alerts.map(({ alert }) => alert)))
  const index = read('README.md')
  for (const { alert = '', labels, annotations } of alerts) {
    t.equal(annotations.runbook, `docs/handbook/${alert}.md`)
    const page = read(`${alert}.md`)
    t.match(
      page,
      new RegExp(`^# ${alert}\\n\\n\\*\\*${labels.severity === 'page' ? 'Page' : 'Ticket'}\\.\\*\\* `),
    )
    t.strictSame(
      [...page.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading),
      headings,
      alert,
    )
    t.equal(page.match(/^[0-9]\. `.+`: .+$/gm)?.length, 3, `${alert} has three commands`)
    t.ok(index.includes(`| [${alert}](${alert}.md) | ${labels.severity} |`), `${alert} is in the index`)
  }
})

t.test('commands of the handbook exist, and links lead somewhere', async (t) => {
  const named = opsSources.flatMap((text) => [...text.matchAll(/command\('(\w+)/g)])
  const known = new Set(named.map(([, name]) => name))
  t.ok(known.size > 20)
  for (const file of globSync('*.md', { cwd: folder })) {
    const page = read(file)
    for (const [, noun, verb] of page.matchAll(/ops -- (\w+)(?: (\w+))?/g)) {
      t.ok(known.has(noun), `${file}: ops ${noun}`)
      if (verb !== undefined) t.ok(known.has(verb), `${file}: ops ${noun} ${verb}`)
    }
    for (const [, target = ''] of page.matchAll(/\]\(([^)#]+)[^)]*\)/g))
      t.ok(existsSync(join(folder, dirname(file), target)), `${file} leads to ${target}`)
  }
})

t.test('every page shows its panel while the alert fires', async (t) => {
  for (const { alert = '' } of alerts) {
    t.match(read(`${alert}.md`), `](images/${alert}.svg)`)
    const picture = read(`images/${alert}.svg`)
    t.match(picture, `${alert} fires`)
    t.match(picture, panelOf(alert).title)
    t.match(picture, /stroke-width="2"/, `${alert} has a line`)
  }
})

t.test('a story is told to Prometheus as promtool reads it', async (t) => {
  t.strictSame(valuesOf('5'), [5])
  t.strictSame(valuesOf('1x3 _x2 0'), [1, 1, 1, 1, null, null, 0])
  t.strictSame(valuesOf('0+10x2 7-1x1'), [0, 10, 20, 7, 6])
  t.throws(() => valuesOf('many'))
  t.equal(secondsOf('72h'), 259_200)
  t.throws(() => secondsOf('5 minutes'))
  t.strictSame(openMetricsOf({ 'up{a="b"}': '1 _ 0' }, { startS: 100, everyS: 60 }), [
    'up{a="b"} 1 100',
    'up{a="b"} 0 220',
  ])
})

t.test('a picture has a line for each series, the limit and the moment of the alert', async (t) => {
  const svg = drawPanel({
    panel: { title: 'Late & later', unit: 'percentunit', limit: 0.1 },
    alert: 'Late',
    lines: [
      {
        legend: 'one',
        points: [
          [0, 0],
          [60, 0.2],
        ],
      },
      {
        legend: 'two',
        points: [
          [0, 0.05],
          [60, 0.05],
        ],
      },
    ],
    lastS: 120,
    toldS: 60,
  })
  t.equal(svg.match(/stroke-width="2"/g)?.length, 2)
  t.match(svg, 'Late &amp; later')
  t.match(svg, '>40 %</text>')
  t.match(svg, 'M64 200L377 120')
})
