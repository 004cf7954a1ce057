import t from 'tap'
import { chromiumPath } from '@pitboss/testing/open-browser'
import { shownOnce, signIn } from './fixtures/dashboard-steps.ts'
import { findBarriers } from './fixtures/find-barriers.ts'
import { startCasino } from './fixtures/start-casino.ts'
import { startReceiver } from './fixtures/start-receiver.ts'

t.setTimeout(240_000)

/** The short form of the browser suite: `npm test` runs it where there is a Chromium. */
const skip = chromiumPath() === null ? 'no Chromium here' : false

await t.test(
  "an engineer's way by what the screen says: key, endpoint, replay, dossier",
  { skip },
  async (t) => {
    const casino = await startCasino(t)
    const player = await casino.operator.openSession({ player_id: 'first', game: 'dice', currency: 'USD' })
    const bet = { target: '2.00', direction: 'over' }
    t.equal((await player.call('POST', '/game/rounds', { stake: '1.00', bet })).status, 201)
    const receiver = await startReceiver(t)
    const { page, complaints, close } = await casino.window()
    await page.goto(`${casino.baseUrl}/dashboard`)
    await signIn(page, casino.owner)

    await page.getByRole('link', { name: 'Keys', exact: true }).click()
    await page.getByRole('button', { name: 'Create key' }).click()
    const form = page.getByRole('dialog')
    await form.getByLabel('Name').fill('Lobby server')
    await form.getByText('Only this').click()
    await form.getByText('Open sessions for players and close them').click()
    await casino.picture(page, 'dashboard-new-key')
    t.strictSame(await findBarriers(page), [])
    await form.getByRole('button', { name: 'Create key' }).click()
    const secret = await shownOnce(t, page)
    t.match(secret, /^cs_test_[0-9A-Za-z]{40}$/)
    await page.getByRole('link', { name: 'Lobby server' }).click()
    await page.getByRole('heading', { name: 'Lobby server' }).waitFor()
    await casino.picture(page, 'dashboard-key')
    await page.getByRole('button', { name: 'Rotate secret' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
    t.not(await shownOnce(t, page), secret)
    await page.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    const why = page.getByText('The key is revoked; that is for ever.')
    await why.waitFor()
    t.equal(await why.count(), 1, 'the reason is told once')
    const told = page.locator('button[aria-describedby]')
    const ids = await told.evaluateAll((all) => all.map((one) => one.getAttribute('aria-describedby')))
    const id = await why.getAttribute('id')
    t.strictSame(ids, [id, id, id], 'and each button that is closed leads to it')
    t.strictSame(await findBarriers(page), [])

    await page.getByRole('link', { name: 'Endpoints', exact: true }).click()
    await page.getByRole('button', { name: 'Create endpoint' }).click()
    await form.getByLabel('URL').fill('not an address')
    await form.getByRole('button', { name: 'Create endpoint' }).click()
    await form.getByText('VALIDATION_ERROR').waitFor()
    await form.getByLabel('URL').fill(receiver.url)
    await form.getByLabel('Description').fill('Story receiver')
    await casino.picture(page, 'dashboard-new-endpoint')
    await form.getByRole('button', { name: 'Create endpoint' }).click()
    t.match(await shownOnce(t, page), /^whsec_[0-9A-Za-z]{32}$/)
    await page.getByRole('heading', { name: 'Story receiver' }).waitFor()
    await page.getByRole('button', { name: 'Send test' }).click()
    await page.getByText('Test delivered: the receiver answered 204.').waitFor()
    t.equal(receiver.types()[0], 'webhook.test')
    await casino.picture(page, 'dashboard-endpoint')

    await page.getByRole('button', { name: 'Replay', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Preview' }).click()
    t.match(await page.getByTestId('preview').textContent(), /^[1-9][0-9]* events? match/)
    await casino.picture(page, 'dashboard-replay-preview')
    await page.getByRole('button', { name: 'Start replay' }).click()
    await page.getByRole('heading', { name: 'Replay', level: 1 }).waitFor()
    await page.getByText('DONE').waitFor()
    t.ok(receiver.types().includes('game.session.created'))
    await casino.picture(page, 'dashboard-replay')

    await page.getByRole('link', { name: 'Deliveries', exact: true }).click()
    await page.getByLabel('Event', { exact: true }).selectOption('webhook.test')
    await page.waitForURL('**/deliveries?event_type=webhook.test')
    await page.getByRole('link', { name: 'webhook.test' }).first().click()
    await page.getByRole('button', { name: 'Retry now' }).click()
    await page.getByText('Attempt 2 has ended').waitFor()
    await casino.picture(page, 'dashboard-delivery')

    await page.getByRole('link', { name: 'Rounds', exact: true }).click()
    await page.getByRole('table', { name: 'Rounds' }).getByRole('link').first().click()
    await page.getByRole('region', { name: 'Drawing' }).waitFor()
    await page.getByText('VERIFIED').waitFor()
    t.strictSame(await findBarriers(page), [])
    t.strictSame(complaints, [])
    await close()
  },
)
