import type { Page, Route } from 'playwright-core'
import t from 'tap'
import { signIn } from './fixtures/dashboard-steps.ts'
import { findBarriers } from './fixtures/find-barriers.ts'
import { startCasino } from './fixtures/start-casino.ts'

t.setTimeout(300_000)
const casino = await startCasino(t)

/** The receipt that the page sends for its next round, and what the dashboard says of it. */
async function receiptOf(page: Page, play: () => Promise<unknown>) {
  const sent = page.waitForRequest((request) => request.url().endsWith('/receipt'))
  const answered = page.waitForResponse((answer) => answer.url().endsWith('/receipt'))
  await play()
  const roundId = (await sent).url().split('/').at(-2) ?? ''
  return { roundId, status: (await answered).status(), sent: (await sent).postDataJSON() }
}

t.test('what a page showed is sealed, and a page that showed something else is an alarm', async (t) => {
  const { page, complaints, close } = await casino.window()
  const { url } = await casino.seat('dice')
  await page.goto(url)
  const press = () => page.getByTestId('play').and(page.locator(':enabled')).click()
  const honest = await receiptOf(page, press)
  t.equal(honest.status, 200)
  t.equal(honest.sent.text, await page.getByTestId('status').textContent(), 'the text of the page')

  await page.route(/[/]v1[/]game[/]rounds$/, tellsOfAWin)
  const tampered = await receiptOf(page, press)
  t.equal(tampered.status, 200)
  t.match(tampered.sent.text, 'You won 1,097,132.71 USD')

  const { page: desk, complaints: others, close: leave } = await casino.window()
  await desk.goto(`${casino.baseUrl}/dashboard/rounds/${tampered.roundId}`)
  await signIn(desk, casino.owner, 'Round')
  const seen = desk.getByRole('region', { name: 'What the player saw' })
  await seen.getByText('The page showed something else than the records say.').waitFor()
  t.match(await seen.textContent(), 'You won 1,097,132.71 USD')
  t.match(await seen.textContent(), 'The records say')
  t.strictSame(await findBarriers(desk), [])
  await seen.scrollIntoViewIfNeeded()
  await casino.picture(desk, 'receipt-differs')
  await desk.goto(`${casino.baseUrl}/dashboard/rounds/${honest.roundId}`)
  await desk.getByText('The page showed what the records say.').waitFor()
  t.strictSame([...complaints, ...others], [])
  await leave()
  await close()
})

t.test('a page of another build is told as such, and silences no alarm by its name', async (t) => {
  const { page, complaints, close } = await casino.window()
  const { url } = await casino.seat('dice')
  // As a page of another release, or of somebody else: the same script under another name.
  const other = 'dice-00000000.js'
  let script = ''
  await page.route('**/play/dice', async (route) => {
    const response = await route.fetch()
    const html = await response.text()
    script = /src="([^"]*dice-[^"]+[.]js)"/.exec(html)?.[1] ?? ''
    await route.fulfill({ response, body: html.replaceAll(script, `/play/assets/${other}`) })
  })
  await page.route(`**/${other}`, async (route) => {
    await route.fulfill({ response: await page.request.fetch(new URL(script, casino.baseUrl).href) })
  })
  await page.goto(url)
  const press = () => page.getByTestId('play').and(page.locator(':enabled')).click()
  const named = await receiptOf(page, press)
  t.match(named, { status: 200, sent: { build: other } })
  await page.route(/[/]v1[/]game[/]rounds$/, tellsOfAWin)
  const lying = await receiptOf(page, press)

  const { page: desk, complaints: others, close: leave } = await casino.window()
  await desk.goto(`${casino.baseUrl}/dashboard/rounds/${named.roundId}`)
  await signIn(desk, casino.owner, 'Round')
  const seen = desk.getByRole('region', { name: 'What the player saw' })
  await seen.getByText('its page is none that this installation served').waitFor()
  await seen.getByText(other).waitFor()
  t.strictSame(await findBarriers(desk), [])
  await seen.scrollIntoViewIfNeeded()
  await casino.picture(desk, 'receipt-of-another-build')
  await desk.goto(`${casino.baseUrl}/dashboard/rounds/${lying.roundId}`)
  await seen.getByText('The page showed something else than the records say.').waitFor()
  t.strictSame([...complaints, ...others], [])
  await leave()
  await close()
})

/** Answers the page with a win that the round is not. */
async function tellsOfAWin(route: Route): Promise<void> {
  const response = await route.fetch()
  const round = await response.json()
  const told = { payout: '1097132.71', multiplier: '1097132.7100', outcome: { ...round.outcome, won: true } }
  await route.fulfill({ response, json: { ...round, ...told } })
}
