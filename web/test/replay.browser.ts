import type { Page } from 'playwright-core'
import t from 'tap'
import { signIn } from './fixtures/dashboard-steps.ts'
import { findBarriers } from './fixtures/find-barriers.ts'
import { startCasino } from './fixtures/start-casino.ts'

t.setTimeout(300_000)
const casino = await startCasino(t)
const dashboard = `${casino.baseUrl}/dashboard`
const faces = (page: Page) =>
  page.locator('.tile').evaluateAll((tiles) => tiles.map((tile) => tile.getAttribute('data-face')))

/** A round that is played on the play page; `playIt` plays it and says what the page showed at its end. */
async function played(game: string, playIt: (page: Page) => Promise<unknown>) {
  const { page, close } = await casino.window()
  const { url, playerId } = await casino.seat(game)
  await page.goto(url)
  const shown = await playIt(page)
  const { body } = await casino.operator.call('GET', `/rounds?player_id=${playerId}`)
  const [round] = body.data as { round_id: string }[]
  await close()
  return { shown, address: `${dashboard}/test/rounds/${round?.round_id}` }
}

const press = (page: Page) => page.getByTestId('play').and(page.locator(':enabled')).click()

const roll = await played('dice', async (page) => {
  await press(page)
  await page.getByTestId('play').and(page.locator(':enabled')).waitFor()
  return page.locator('.roll').textContent()
})
const board = await played('mines', async (page) => {
  await press(page)
  for (const tile of [0, 13]) {
    await page.locator(`.tile[data-tile="${tile}"][data-face="closed"]:not([aria-disabled="true"])`).click()
    await page.locator(`.tile[data-tile="${tile}"]:is([data-face="gem"], [data-face="hit"])`).waitFor()
    if ((await faces(page)).includes('hit')) return faces(page)
  }
  await page.getByTestId('cash-out').and(page.locator(':enabled')).click()
  await page.locator('.tile[data-face="mine"]').first().waitFor()
  return faces(page)
})
const wheel = await played('spin-bottle', async (page) => {
  await press(page)
  await page.getByTestId('play').and(page.locator(':enabled')).waitFor()
  return page.locator('.slice').evaluateAll((slices) => slices.map((slice) => slice.getAttribute('data-hit')))
})

const looks = [
  { colorScheme: 'light', width: 1440 },
  { colorScheme: 'dark', width: 360 },
] as const
for (const { colorScheme, width } of looks) {
  await t.test(`a round is drawn as the play page drew it, ${colorScheme}, ${width} px`, async (t) => {
    const { page, complaints, close } = await casino.window({ colorScheme, viewport: { width, height: 900 } })
    const card = page.getByRole('region', { name: 'The round, step by step' })
    const stage = page.getByTestId('replay-stage')
    const show = async (address: string) => {
      await page.goto(address)
      await card.getByRole('button', { name: 'Show the round step by step' }).click()
      await stage.locator('.stage').waitFor()
    }
    await page.goto(roll.address)
    await signIn(page, casino.owner, 'Round')

    await show(roll.address)
    t.equal(await stage.locator('.roll').textContent(), roll.shown)
    await card.getByRole('button', { name: 'Step back' }).click()
    await card.getByRole('button', { name: 'Step back' }).click()
    t.equal(await card.locator('[aria-current=step]').textContent(), 'Stake 1.00 USD: roll over 50.00.')
    t.equal(await stage.locator('.pin').count(), 0, 'the bet shows no roll')
    await card.scrollIntoViewIfNeeded()
    await casino.picture(page, `replay-dice-${colorScheme}-${width}`)
    await card.getByRole('button', { name: 'Play' }).click()
    await stage.locator('.pin').waitFor()
    t.strictSame(await findBarriers(page), [])

    await show(board.address)
    t.strictSame(await faces(page), board.shown)
    await card.getByRole('button', { name: 'Step back' }).click()
    t.notOk((await faces(page)).includes('mine'), 'no mine before the end')
    await card.getByRole('button', { name: 'Play' }).click()
    await stage.locator('.tile[data-face="mine"]').first().waitFor()
    t.strictSame(await faces(page), board.shown, 'played to the same end')
    await card.scrollIntoViewIfNeeded()
    await casino.picture(page, `replay-mines-${colorScheme}-${width}`)

    await show(wheel.address)
    const hits = () =>
      stage.locator('.slice').evaluateAll((slices) => slices.map((one) => one.getAttribute('data-hit')))
    t.strictSame(await hits(), wheel.shown)
    await casino.picture(page, `replay-wheel-${colorScheme}-${width}`)
    const wide = Number(await page.evaluate('document.documentElement.scrollWidth'))
    t.ok(wide <= width, `${wide} px wide`)
    t.strictSame(await findBarriers(page), [])
    t.strictSame(complaints, [], 'no error, and nothing against the policy of the page')
    await close()
  })
}
