import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { send } from '@pitboss/testing/operator-client'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { z } from 'zod'
import { shownOnce, signIn } from './fixtures/dashboard-steps.ts'
import { startCasino } from './fixtures/start-casino.ts'

/*
 * What strangers can store, shown by the dashboard: markup stays text, formulas stay text in a spreadsheet;
 * a secret leaves the page with "I have stored it"; times are those of the chosen zone.
 */

t.setTimeout(600_000)
const casino = await startCasino(t)
const dashboard = `${casino.baseUrl}/dashboard`
const api = `${casino.baseUrl}/v1/dashboard`
const login = await send('POST', `${api}/login`, { body: casino.owner })
const token = String(login.body.access_token)

const deliveriesSchema = z.object({
  data: z.array(
    z.object({
      delivery_id: z.string(),
      last_attempt: z.object({ http_status: z.number().nullable() }).nullable(),
    }),
  ),
})

/** Each runs, or loads, when a page takes it for markup. `mark` tells where it was stored. */
const markupOf = (mark: string) =>
  `<img src=x onerror="window.probed='${mark}'"><svg onload="window.probed='${mark}'">`
const formulaOf = (mark: string) => `=HYPERLINK("http://127.0.0.1:9/${mark}","x")`

async function make(
  method: string,
  path: string,
  body: object,
  wanted = 201,
): Promise<Record<string, unknown>> {
  const { status, body: answer } = await send(method, `${api}/${path}`, { token, body })
  if (status !== wanted) throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(answer)}`)
  return answer
}

/** A server of the operator that answers everything with text of its own. */
async function startHostile(answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => answer(response))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  // Safe: a server that listens on an address has one.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Stores the text in every place that takes free text from outside. */
async function store(textOf: (mark: string) => string): Promise<{ player: string; delivery: string }> {
  const receiver = await startHostile((response) => response.writeHead(500).end(textOf('receiver-answer')))
  const webhook = await make('POST', 'webhooks', {
    ...{ url: `${receiver}/hooks?${encodeURIComponent(textOf('webhook-url'))}`, environment: 'TEST' },
    ...{
      description: textOf('webhook-description').slice(0, 256),
      events: ['transaction.bet', 'round.completed'],
    },
  })
  await make('POST', 'credentials', {
    name: textOf('key').slice(0, 128),
    environment: 'TEST',
    scopes: ['reports:read'],
  })
  await make('POST', 'brands', { name: textOf('brand').slice(0, 128) })
  await make('POST', 'users', {
    ...{ email: `p${Math.random().toString(36).slice(2)}@casino.example` },
    ...{ name: textOf('person').slice(0, 128), role: 'VIEWER' },
  })
  await make('POST', 'views', { name: textOf('view').slice(0, 64), page: '/rounds', query: '' })
  const player = textOf('player').slice(0, 128)
  const seat = await casino.operator.openSession({ player_id: player, game: 'dice', currency: 'USD' })
  const bet = { target: '98.00', direction: 'under' }
  const played = await seat.call('POST', '/game/rounds', { stake: '1.00', bet })
  if (played.status !== 201) throw new Error(`the round answered ${played.status}`)
  const named = encodeURIComponent(player)
  const stopped = await casino.operator.call('POST', `/players/${named}/stop`, { reason: textOf('stop') })
  if (stopped.status !== 200) throw new Error(`the stop answered ${stopped.status}`)
  const lifted = await casino.operator.call('POST', `/players/${named}/stop/lift`, { reason: textOf('lift') })
  if (lifted.status !== 200) throw new Error(`lifting answered ${lifted.status}`)
  const granted = await casino.operator.call('POST', '/free-bets', {
    ...{ player_id: player, game: 'dice', currency: 'USD', stake: '1.00', count: 1 },
  })
  if (granted.status !== 201) throw new Error(`the free bet answered ${granted.status}`)
  await casino.operator.call('GET', `/rounds/${encodeURIComponent(textOf('path'))}`)
  const attempted = `${api}/webhook-deliveries?environment=TEST&webhook_id=${String(webhook.webhook_id)}`
  const delivery = await waitFor(
    async () => {
      const { status, body } = await send('GET', attempted, { token })
      if (status !== 200) throw new Error(`the deliveries answered ${status}`)
      const { data } = deliveriesSchema.parse(body)
      return data.find(({ last_attempt: last }) => last?.http_status === 500)?.delivery_id ?? null
    },
    { what: 'an attempt with the answer of the receiver', timeoutMs: 60_000, everyMs: 200 },
  )
  return { player, delivery }
}

const lists = [
  'keys',
  'endpoints',
  'deliveries',
  'events',
  'requests',
  'sessions',
  'rounds',
  'transactions',
  'free-bets',
  'people',
  'audit',
]

async function visit(page: Page, place: string): Promise<void> {
  await page.goto(`${dashboard}/test/${place}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.waitForLoadState('networkidle')
}

await t.test('markup that strangers store stays text on every page', async (t) => {
  const { player, delivery } = await store(markupOf)
  const { page, complaints, close } = await casino.window()
  const asked = new Set<string>()
  page.on('request', (request) => asked.add(new URL(request.url()).origin))
  await page.goto(dashboard)
  await signIn(page, casino.owner)
  const holds = async (place: string) => {
    t.equal(await page.evaluate('window.probed'), undefined, `${place}: nothing ran`)
    t.equal(await page.locator('img[src="x"], svg[onload]').count(), 0, `${place}: no element was made`)
  }
  let seen = ''
  for (const place of [
    ...lists,
    'business',
    'returns',
    `deliveries/${delivery}`,
    'reports',
    `player?player_id=${encodeURIComponent(player)}`,
  ]) {
    await visit(page, place)
    await holds(place)
    seen += await page.locator('body').innerText()
    const first = page.getByRole('main').getByRole('table').first().locator('tbody td a').first()
    if (!lists.includes(place) || (await first.count()) === 0) continue
    await first.click()
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('networkidle')
    await holds(`one of ${place}`)
    seen += await page.locator('body').innerText()
  }
  for (const mark of ['key', 'brand', 'person', 'webhook-description', 'player', 'stop', 'receiver-answer'])
    t.ok(seen.includes(`window.probed='${mark}'`), `${mark} was shown, as text`)
  t.strictSame([...asked], [casino.baseUrl], 'no other host was asked')
  t.strictSame(complaints, [])
  await close()
})

await t.test('no cell of a saved list is a formula', async (t) => {
  await store(formulaOf)
  const { page, complaints, close } = await casino.window()
  await page.goto(dashboard)
  await signIn(page, casino.owner)
  let cells = 0
  let disarmed = 0
  for (const place of lists) {
    await visit(page, place)
    const save = page.getByRole('button', { name: 'CSV of this page' }).first()
    if ((await save.count()) === 0) continue
    const [download] = await Promise.all([page.waitForEvent('download'), save.click()])
    const text = await readFile(await download.path(), 'utf8')
    for (const cell of cellsIn(text)) {
      cells++
      if (cell.startsWith("'=")) disarmed++
      t.notOk(/^[=+@\t\r]/.test(cell) || /^-(?!\d+(\.\d+)?$)/.test(cell), `${place}: ${cell}`)
    }
  }
  t.ok(cells > 100, `${cells} cells were looked at`)
  t.ok(disarmed >= 4, `${disarmed} would have been formulas`)
  t.strictSame(complaints, [])
  await close()
})

/** The cells of a text after RFC 4180. */
function cellsIn(text: string): string[] {
  return [...text.matchAll(/"((?:[^"]|"")*)"|([^",\r\n]+)/g)].map(([, quoted, plain]) =>
    quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'),
  )
}

await t.test('a stored secret is nowhere: page, history, storage, clipboard', async (t) => {
  const { page, complaints, close } = await casino.window({
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  await page.goto(`${dashboard}/test/keys`)
  await signIn(page, casino.owner, 'Keys')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Probe')
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('button', { name: /^Copy .*secret/i }).click()
  const copied = String(await page.evaluate('navigator.clipboard.readText()'))
  const secret = await shownOnce(t, page)
  t.equal(copied, secret, 'it could be copied')
  const kept = String(
    await page.evaluate(
      'JSON.stringify([history.state, location.href, Object.entries(localStorage), Object.entries(sessionStorage), document.documentElement.outerHTML, [...document.querySelectorAll("input,textarea")].map((one) => one.value)])',
    ),
  )
  t.notOk(kept.includes(secret), 'neither page, address, history nor storage holds it')
  await waitFor(async () => (await page.evaluate('navigator.clipboard.readText()')) !== secret, {
    what: 'the clipboard to let go of the secret',
  })
  await page.goBack()
  await page.goForward()
  t.notOk((await page.content()).includes(secret), 'nor do the pages before and after')
  t.strictSame(complaints, [])
  await close()
})

const zones = ['Pacific/Honolulu', 'Asia/Kathmandu', 'Pacific/Kiritimati', 'America/New_York'] as const

for (const zone of zones)
  await t.test(`times are those of ${zone}, in the page, the address and the filters`, async (t) => {
    const { page, complaints, close } = await casino.window({ timezoneId: zone })
    await page.goto(`${dashboard}/test/rounds`)
    await signIn(page, casino.owner, 'Rounds')
    const first = page.getByRole('table', { name: 'Rounds' }).locator('tbody time').first()
    await first.waitFor()
    const iso = String(await first.getAttribute('datetime'))
    t.equal(await first.getAttribute('title'), iso, 'UTC unless another zone is chosen')
    // A browser may know a zone by an older name.
    const device = String(await page.evaluate('Intl.DateTimeFormat().resolvedOptions().timeZone'))
    await page.getByLabel('Times in').selectOption(device)
    await page.waitForURL((url) => url.searchParams.get('zone') === device)
    const shown = String(await first.getAttribute('title'))
    t.equal(instantIn(shown), new Date(iso).toISOString(), `${shown} is ${iso}`)
    const local = new Intl.DateTimeFormat('sv-SE', {
      timeZone: zone,
      dateStyle: 'short',
      timeStyle: 'medium',
    })
    t.ok(shown.startsWith(local.format(new Date(iso))), `${shown} is what the clocks there show`)
    await page.reload()
    await first.waitFor()
    t.equal(await first.getAttribute('title'), shown, 'it stays over a reload')
    t.strictSame(complaints, [])
    await close()
  })

/** The instant of a text such as `2026-11-25 21:35:57.262 +05:45`. */
function instantIn(shown: string): string {
  const [day, time, offset] = shown.split(' ')
  return new Date(`${day}T${time}${offset}`).toISOString()
}
