import { openBrowser } from '@pitboss/testing/open-browser'
import type { DemoFile } from '@pitboss/stack/demo-file'
import type { Browser, Page } from 'playwright-core'
import { z } from 'zod'
import { workloads } from '../compare/workloads.ts'
import type { HttpClient } from '../harness/http-client.ts'
import { createLatencyRecorder, type Latency } from '../harness/latency.ts'
import type { Measured } from '../harness/measured.ts'
import { latencyCells, renderTable } from '../harness/table.ts'
import type { DashboardWorld } from './dashboard-world.ts'

const views = 5
const clicksPerPlace = 4
const followedRounds = 40
const viewGoalMs = 1200
const clickGoalMs = 100
const tailGoalMs = 500
const places = ['Rounds', 'Transactions', 'Events', 'Deliveries', 'Sessions', 'Endpoints', 'Keys', 'Home']

/** What the page notes of itself; a string, since it runs in the browser. */
const notes = `
window.noted = { view: 0, clicks: [], seen: [] }
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.noted.view = entry.startTime
}).observe({ type: 'largest-contentful-paint', buffered: true })
addEventListener('click', () => {
  const from = performance.now()
  requestAnimationFrame(() => setTimeout(() => window.noted.clicks.push(performance.now() - from)))
}, { capture: true })
const known = new Set()
new MutationObserver(() => {
  for (const link of document.querySelectorAll('a[href*="/events/evt_"]')) {
    const id = link.getAttribute('href').split('/').at(-1).split('?')[0]
    if (known.has(id)) continue
    known.add(id)
    requestAnimationFrame(() => setTimeout(() => window.noted.seen.push([id, Date.now()])))
  }
}).observe(document, { childList: true, subtree: true })
`

const noted = z.object({
  view: z.number(),
  clicks: z.array(z.number()),
  seen: z.array(z.tuple([z.string(), z.number()])),
})
const eventPage = z.object({ data: z.array(z.object({ id: z.string(), created_at: z.string() })) })

/**
 * The dashboard in Chromium: its first view without a cache, clicks from page to page until the next frame is
 * drawn, and events that are followed, from their time to their row's frame.
 */
export async function measurePages({ http, token, demo, cleanup, say }: DashboardWorld): Promise<Measured> {
  const browser = await openBrowser({ teardown: (fn) => cleanup.add(fn) })
  say('opening the first view')
  const view = createLatencyRecorder()
  for (let count = 0; count < views; count++) view.record(await firstView(browser, demo))
  const page = await openPage(browser, demo)
  say('clicking from page to page')
  const clicks = createLatencyRecorder()
  for (const ms of await clickThrough(page)) clicks.record(ms)
  say('following events')
  const tail = createLatencyRecorder()
  for (const ms of await followEvents(page, { http, token, demo })) tail.record(ms)
  const rows: [string, number, Latency, number][] = [
    ['first view, largest paint', viewGoalMs, view.read(), view.count()],
    ['a click, to the next frame', clickGoalMs, clicks.read(), clicks.count()],
    ['an event, from its time to its row', tailGoalMs, tail.read(), tail.count()],
  ]
  const late = rows.filter(([, goal, { p95 }, count]) => count === 0 || p95 > goal).map(([what]) => what)
  const cells = rows.map(([what, goal, latency, count]) => [
    what,
    String(count),
    ...latencyCells(latency),
    String(goal),
  ])
  return {
    result: Object.fromEntries(rows.map(([what, , latency, count]) => [what, { count, ...latency }])),
    text: `${renderTable(['the dashboard in Chromium', 'times', 'p50 ms', 'p95 ms', 'p99 ms', 'goal of p95'], cells)}

later than its goal: ${late.length === 0 ? 'none, holds' : `${late.join(', ')}: TOO MUCH`}`,
  }
}

async function firstView(browser: Browser, { base_url: baseUrl }: DemoFile): Promise<number> {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.addInitScript(notes)
  await page.goto(`${baseUrl}/dashboard`)
  await page.getByRole('button', { name: 'Sign in' }).waitFor()
  await page.waitForLoadState('networkidle')
  const { view } = await notedOf(page)
  await context.close()
  return view
}

async function openPage(browser: Browser, { base_url: baseUrl, dashboard }: DemoFile): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width: 1440, height: 900 } })).newPage()
  await page.addInitScript(notes)
  await page.goto(`${baseUrl}/dashboard`)
  await page.getByLabel('Email').fill(dashboard.email)
  await page.getByLabel('Password').fill(dashboard.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
  return page
}

/** The time of each click; a page's first one loads its code as well. */
async function clickThrough(page: Page): Promise<number[]> {
  const before = (await notedOf(page)).clicks.length
  for (let turn = 0; turn < clicksPerPlace; turn++) {
    for (const name of places) {
      await page.getByRole('navigation').getByRole('link', { name, exact: true }).first().click()
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      await page.waitForLoadState('networkidle')
    }
  }
  return (await notedOf(page)).clicks.slice(before)
}

/** From the time of each event, which is earlier than its record, to the frame with its row. */
async function followEvents(
  page: Page,
  { http, token, demo }: { http: HttpClient; token: string; demo: DemoFile },
): Promise<number[]> {
  await page.getByRole('navigation').getByRole('link', { name: 'Events', exact: true }).first().click()
  await page.getByRole('heading', { name: 'Events', level: 1 }).waitFor()
  await page.getByRole('button', { name: 'Follow', exact: true }).click()
  await page.getByText('Live: what happens from now on').waitFor()
  const before = new Set((await notedOf(page)).seen.map(([id]) => id))
  const play = await workloads.round(http, demo)
  const from = new Date().toISOString()
  for (let round = 0; round < followedRounds; round++) {
    await play(0)
    await page.waitForTimeout(250)
  }
  await page.waitForTimeout(1000)
  const { text } = await http.send('GET', `/v1/dashboard/events?limit=200&from=${from}`, { token })
  const times = new Map(
    eventPage.parse(JSON.parse(text)).data.map((event) => [event.id, Date.parse(event.created_at)]),
  )
  return (await notedOf(page)).seen.flatMap(([id, atMs]) => {
    const fromMs = times.get(id)
    return before.has(id) || fromMs === undefined ? [] : [atMs - fromMs]
  })
}

async function notedOf(page: Page): Promise<z.infer<typeof noted>> {
  return noted.parse(await page.evaluate('window.noted'))
}
