import { readFileSync } from 'node:fs'
import { send } from '@pitboss/testing/operator-client'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import type { Page } from 'playwright-core'
import { z } from 'zod'
import { findBarriers } from './fixtures/find-barriers.ts'
import { startCasino } from './fixtures/start-casino.ts'

t.setTimeout(600_000)
const casino = await startCasino(t)
const dashboard = `${casino.baseUrl}/dashboard`
const login = await send('POST', `${casino.baseUrl}/v1/dashboard/login`, { body: casino.owner })
const token = String(login.body.access_token)
const roundsSchema = z.object({ data: z.array(z.object({ round_id: z.string(), status: z.string() })) })
/** A name that a spreadsheet would take for a formula, and a browser for markup. */
const probe = '=HYPERLINK("http://x","<img src=x onerror=alert(1)>")'

const roundsOf = async (player: string) => {
  const address = `${casino.baseUrl}/v1/dashboard/rounds?player_id=${encodeURIComponent(player)}`
  return roundsSchema.parse((await send('GET', address, { token })).body).data
}
async function play(player: string): Promise<string> {
  const seat = await casino.operator.openSession({ player_id: player, game: 'dice', currency: 'USD' })
  await seat.call('POST', '/game/rounds', { stake: '1.00', bet: { target: '2.00', direction: 'over' } })
  return (await roundsOf(player))[0]?.round_id ?? ''
}

async function openAt(page: Page, place: string, heading: string): Promise<void> {
  await page.goto(`${dashboard}/test${place}`)
  if (page.url().startsWith(dashboard)) {
    const email = page.getByLabel('Email')
    const main = page.getByRole('heading', { name: heading, level: 1 })
    await email.or(main).first().waitFor()
    if ((await email.count()) > 0) {
      await email.fill(casino.owner.email)
      await page.getByLabel('Password').fill(casino.owner.password)
      await page.getByRole('button', { name: 'Sign in' }).click()
    }
    await main.waitFor()
  }
}

await t.test('the picture of a round tells an unknown outcome and what settled it', async (t) => {
  await casino.walletFaults([
    { operation: 'credit', player_id: 'owed', kind: 'http_error', apply: true, count: 1 },
  ])
  const roundId = await play('owed')
  await waitFor(async () => (await roundsOf('owed')).every(({ status }) => status === 'SETTLED'), {
    what: 'the win is paid',
  })
  const { page, complaints, close } = await casino.window()
  await openAt(page, `/rounds/${roundId}`, 'Round')
  const picture = page.getByRole('region', { name: 'Drawing' })
  await picture.getByText('? http status 500').waitFor()
  await picture.getByText('settles call 1').waitFor()
  await page.getByText('Over: the round is settled.').waitFor()
  await page.getByText('VERIFIED').waitFor()
  await page.getByText('As a list').click()
  const listed = await page.getByRole('table', { name: 'Steps' }).getByRole('row').count()
  t.equal(listed - 1, await picture.locator('.arrow').count(), 'the list has every arrow')
  t.strictSame(await findBarriers(page), [])
  for (const width of [1180, 1000, 800, 360]) {
    await page.setViewportSize({ width, height: 900 })
    await picture.getByText('? http status 500').waitFor()
    const beyond = await picture.evaluate((drawing) => {
      const { left, right } = drawing.getBoundingClientRect()
      return [...drawing.querySelectorAll('text, line')].filter((one) => {
        const box = one.getBoundingClientRect()
        return box.left < left - 1 || box.right > right + 1
      }).length
    })
    t.equal(beyond, 0, `nothing of it is beyond its card at ${width}`)
    t.ok(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), `at ${width}`)
    await picture.screenshot({ path: `artifacts/dashboard-round-${width}.png` })
  }
  t.strictSame(await findBarriers(page), [], 'on a phone')
  await page.setViewportSize({ width: 1180, height: 860 })
  await page.emulateMedia({ media: 'print' })
  t.notOk(await page.getByRole('navigation', { name: 'Pages', includeHidden: true }).isVisible())
  t.ok(await picture.isVisible(), 'it is on the paper')
  const began = page.getByRole('region', { name: 'Round', exact: true }).locator('time').first()
  const printed = await began.evaluate((element) => getComputedStyle(element, '::after').content)
  t.match(printed, /^"\d{4}-\d\d-\d\dT[\d:.]+Z"$/, 'paper shows exact times')
  await casino.picture(page, 'dashboard-round-print')
  t.strictSame(complaints, [])
  await close()
})

await t.test('the first view is at most 150 KB of script on the wire, in brotli', async (t) => {
  const { page, complaints, close } = await casino.window()
  const encodings: (string | undefined)[] = []
  page.on('response', (response) => {
    if (/index-.*\.js$|shared-.*\.js$/.test(response.url()))
      encodings.push(response.headers()['content-encoding'])
  })
  await openAt(page, '', 'Home')
  await page.waitForLoadState('networkidle')
  t.ok(encodings.length > 0)
  t.ok(
    encodings.every((encoding) => encoding === 'br'),
    encodings.join(),
  )
  const sizes = z
    .array(z.number())
    .parse(
      await page.evaluate(
        "performance.getEntriesByType('resource').filter((one) => one.name.endsWith('.js')).map((one) => one.encodedBodySize)",
      ),
    )
  t.ok(
    sizes.reduce((sum, size) => sum + size, 0) <= 150_000,
    `${sizes.reduce((sum, size) => sum + size, 0)} bytes`,
  )
  t.strictSame(complaints, [])
  await close()
})

await t.test('the home page says what needs attention, with the press that helps', async (t) => {
  await casino.walletFaults([{ operation: 'credit', player_id: 'waiting', kind: 'http_error' }])
  await play('waiting')
  const { page, complaints, close } = await casino.window()
  await openAt(page, '', 'Home')
  await page.getByText('has no clear answer from the wallet yet').waitFor()
  t.strictSame(await findBarriers(page), [])
  await casino.picture(page, 'dashboard-attention')
  await page.getByRole('link', { name: 'See what they wait for' }).click()
  await page.waitForURL('**/transactions?status=PENDING')
  await page.getByRole('table', { name: 'Movements' }).getByRole('link').first().waitFor()
  await casino.walletFaults([])
  t.strictSame(complaints, [])
  await close()
})

await t.test('anything is found by its id with the keyboard alone', async (t) => {
  const roundId = await play('sought')
  const { page, complaints, close } = await casino.window()
  await openAt(page, '/keys', 'Keys')
  await page.keyboard.press('Control+k')
  const input = page.getByRole('combobox', { name: 'Any id, or a page' })
  await input.fill(roundId)
  await page.getByRole('option', { name: roundId }).waitFor()
  t.strictSame(await findBarriers(page), [])
  await casino.picture(page, 'dashboard-search')
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/test/rounds/${roundId}`)
  await page.getByRole('heading', { name: 'Round', level: 1 }).waitFor()
  await page.keyboard.press('/')
  await input.fill(roundId.toUpperCase())
  await page.getByText('Nothing has this id.').waitFor()
  await page.keyboard.press('Escape')
  await openAt(page, '/keys', 'Keys')
  await page.keyboard.press('/')
  await input.fill(roundId)
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/test/rounds/${roundId}`)
  await page.keyboard.press('/')
  await input.fill('sought')
  await page.getByRole('option', { name: /sought player/ }).click()
  await page.waitForURL('**/player?player_id=sought')
  await page.keyboard.press('/')
  await input.fill('deliv')
  await page.getByRole('option', { name: 'Deliveries page' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Deliveries', level: 1 }).waitFor()
  await page.keyboard.press('/')
  await input.fill('no-such-thing')
  await page.getByText('Nothing has this id.').waitFor()
  t.strictSame(complaints, [])
  await close()
})

await t.test('a CSV is exactly the list on the screen, and nothing in it is a formula', async (t) => {
  await play(probe)
  const { page, complaints, close } = await casino.window({ acceptDownloads: true })
  await openAt(page, '/rounds', 'Rounds')
  await page.getByText(probe).first().waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'CSV of this page' }).click(),
  ])
  t.equal(download.suggestedFilename(), 'rounds.csv')
  const lines = readFileSync(await download.path(), 'utf8')
    .trimEnd()
    .split('\r\n')
  const table = page.getByRole('table', { name: 'Rounds' })
  t.equal(lines.length, await table.getByRole('row').count())
  t.equal(
    lines[0],
    '\uFEFFPlayer,Game,Status,Stake,Payout,Began,Id',
    'a byte order mark: spreadsheets read UTF-8',
  )
  t.ok(lines[1]?.startsWith(`"'${probe.replaceAll('"', '""')}",dice,`))
  t.match(lines[1], /,\d{4}-\d\d-\d\dT[\d:.]+Z,rnd_[0-9a-z]{26}$/, 'exact times, and the id behind the link')
  for (const line of lines) t.notMatch(line, /(^|,)"?[=+@]/)

  await page.getByLabel('Status').selectOption('SETTLED')
  await page.waitForURL('**/rounds?status=SETTLED')
  await page.getByRole('button', { name: 'As curl' }).click()
  const command = await page.getByLabel('Command').textContent()
  t.match(command, `/v1/dashboard/rounds'`)
  t.match(command, "--data-urlencode 'status=SETTLED'")
  t.notMatch(command, /eyJ/, 'no token is in it')
  t.strictSame(await findBarriers(page), [])
  t.strictSame(complaints, [])
  await close()
})

await t.test('the filters of a list are saved as a view, opened and removed again', async (t) => {
  const { page, complaints, close } = await casino.window({ viewport: { width: 360, height: 740 } })
  await openAt(page, '/rounds?status=VOIDED&range=7d', 'Rounds')
  await page.getByRole('button', { name: 'Save this view' }).click()
  const form = page.getByRole('dialog', { name: 'Save this view' })
  await form.getByRole('button', { name: 'Save view' }).click()
  await form.getByText('must not be empty').waitFor()
  await form.getByLabel('Name').fill('Voided <this> week')
  t.strictSame(await findBarriers(page), [])
  await form.getByRole('button', { name: 'Save view' }).click()
  await form.waitFor({ state: 'detached' })
  await openAt(page, '/rounds', 'Rounds')
  const views = page.getByRole('navigation', { name: 'Saved views' })
  t.equal(await views.getByRole('button', { name: 'Save this view' }).count(), 0, 'there is nothing to save')
  await views.getByRole('link', { name: 'Voided <this> week' }).click()
  await page.waitForURL('**/rounds?status=VOIDED&range=7d')
  t.equal(await page.getByLabel('Status').inputValue(), 'VOIDED')
  t.equal(await views.getByRole('link').getAttribute('aria-current'), 'page')
  t.strictSame(await findBarriers(page), [])
  await casino.picture(page, 'dashboard-views')
  await openAt(page, '/sessions?status=CLOSED', 'Sessions')
  await views.getByRole('button', { name: 'Save this view' }).waitFor()
  t.equal(await views.getByRole('link').count(), 0, 'a view is of its page')
  await openAt(page, '/rounds', 'Rounds')
  await views.getByRole('button', { name: 'Remove a view' }).click()
  const removing = page.getByRole('dialog', { name: 'Remove a view' })
  t.strictSame(await findBarriers(page), [])
  await removing.getByRole('button', { name: 'Remove Voided <this> week' }).click()
  await removing.getByRole('cell', { name: 'Voided <this> week', exact: true }).waitFor({ state: 'detached' })
  t.strictSame(complaints, [])
  await close()
})

await t.test('what a server does wrong is told with what helps', async (t) => {
  const wrong = { player_id: 'nobody', game: 'poker', currency: 'USD' }
  for (const _again of [1, 2]) await t.rejects(casino.operator.openSession(wrong))
  const { page, complaints, close } = await casino.window()
  await openAt(page, '/requests', 'Requests')
  const mistakes = page.getByRole('table', { name: 'Mistakes' })
  // The log is written behind the answers.
  await waitFor(
    async () => {
      await page.reload()
      await page.getByRole('table', { name: 'Requests' }).waitFor()
      return (await mistakes.getByText('GAME_NOT_FOUND').count()) > 0
    },
    { what: 'the refusals are in the log' },
  )
  await mistakes.getByText('POST /v1/sessions').first().waitFor()
  t.strictSame(await findBarriers(page), [])
  await casino.picture(page, 'dashboard-mistakes')
  await mistakes.getByRole('link').first().click()
  await page.waitForURL('**/requests?request_id=req_*')
  t.strictSame(complaints, [])
  await close()
})
